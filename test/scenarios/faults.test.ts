import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import type { Invocation, Verdict } from "../../simulator/invocation.ts";
import { Scenario } from "../../simulator/scenario.ts";

/** Runs the invocation with a fault at one of its calls. */
async function withFault(
  world: Scenario,
  invocation: Invocation,
  calls: number,
  verdict: Verdict,
): Promise<void> {
  while (invocation.state === "running" && invocation.calls < calls) await world.step(invocation);
  await world.step(invocation, verdict);
  await world.finish(invocation);
}

function threeNodes(): Scenario {
  const world = new Scenario();
  for (const name of ["a", "b", "c"]) world.addNode(name);
  return world;
}

const faults = Array.from({ length: 20 }, (_, n) => n).flatMap((n): [number, Verdict][] => [
  [n, "refused"],
  [n, "answer lost"],
]);

describe("a call of the hold function that fails", () => {
  it.each(faults)("loses nothing: call %i, %s", async (calls, verdict) => {
    const world = threeNodes();
    world.launch();

    await withFault(world, await world.deliver(), calls, verdict);
    await world.pass(minutes(5));
    const held = world.heldNodes();
    await world.pass(minutes(15));

    expect(held).toEqual(["a", "b", "c", "node-1"]);
    expect([world.marks(), world.hold(), world.history().length]).toEqual([{}, undefined, 1]);
    expect(world.queue.deadLetters).toEqual([]);
  });
});

it("a look that fails for good is not the last: its hold ends on time, without a sweep", async () => {
  const world = threeNodes();
  world.sweepEvery = undefined;
  world.launch();
  await world.pass(minutes(3));
  const next = [...world.oneShots.armed].toSorted(([, a], [, b]) => a.at.getTime() - b.at.getTime());
  expect(next).toHaveLength(2);
  world.oneShots.armed.delete(next[0]?.[0] ?? "");
  await world.pass(minutes(16));
  expect(world.heldNodes()).toHaveLength(4);
  await world.pass(minutes(2));
  expect([world.marks(), world.hold()]).toEqual([{}, undefined]);
});

describe("a call of the release function that fails", () => {
  it.each(faults)("loses nothing, and needs no sweep: call %i, %s", async (calls, verdict) => {
    const world = threeNodes();
    world.launch();
    await world.pass(seconds(20 * 60 - 1));
    world.sweepEvery = undefined;
    world.time = after(world.time, seconds(1));
    const [oneShot] = world.oneShots.armed.values();

    if (oneShot) await withFault(world, await world.fire(oneShot), calls, verdict);
    await world.pass(minutes(5));

    expect([world.marks(), world.hold(), world.history().length]).toEqual([{}, undefined, 1]);
  });
});

describe("a scheduler that fails for hours", () => {
  it("prevents neither marks nor releases", async () => {
    const world = threeNodes();
    world.refuses = (call) => call === "arm";
    world.launch();

    await world.pass(minutes(5));
    const held = world.heldNodes();
    await world.pass(minutes(15));

    expect(held).toEqual(["a", "b", "c", "node-1"]);
    expect([world.marks(), world.hold(), world.history().length]).toEqual([{}, undefined, 1]);
  });
});

describe("a queue that refuses messages", () => {
  it("does not prevent the hold of a known launch", async () => {
    const world = threeNodes();
    world.launch({ joinsAfter: null });
    const unknown = world.launch({ joinsAfter: null });
    world.ec2.unlisted.add(unknown.instance);
    world.refuses = (call) => call === "enqueue";

    await world.pass(seconds(1));

    expect(world.heldNodes()).toEqual(["a", "b", "c"]);
    expect(world.queue.messages).toHaveLength(2);
  });
});
