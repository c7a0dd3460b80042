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

describe("a node", () => {
  it("whose first patch failed is retried before any sweep", async () => {
    const world = threeNodes();
    world.sweepEvery = undefined;
    const control = await world.ask({ do: "hold", reason: "no node joins" });
    while (control.waitsFor !== "patch b") await world.step(control);
    await world.step(control, "refused");
    await world.finish(control);
    const atOnce = world.heldNodes();

    await world.pass(seconds(15));

    expect(atOnce).toEqual(["a", "c"]);
    expect(world.heldNodes()).toEqual(["a", "b", "c"]);
  });

  it("whose patch always fails is reported by every sweep, although no function fails", async () => {
    const world = threeNodes();
    world.refuses = (call) => call === "patch b";
    await world.control({ do: "hold", for: "1h" });
    await world.pass(minutes(15));
    const before = world.metrics.total("NodePatchFailures");

    await world.pass(minutes(15));

    expect(world.metrics.total("NodePatchFailures") - before).toBeGreaterThanOrEqual(3);
    expect(world.log.reported("invocation failed")).toEqual([]);
  });

  it("deleted during marking or releasing is not a failure", async () => {
    const world = threeNodes();
    world.launch({ joinsAfter: null });
    const hold = await world.deliver();
    while (hold.waitsFor !== "patch b") await world.step(hold);
    world.nodes.remove("b");
    await world.finish(hold);
    await world.pass(seconds(20 * 60 - 1));
    world.time = after(world.time, seconds(1));
    const release = await world.fireNext();
    while (release.waitsFor !== "patch c") await world.step(release);
    world.nodes.remove("c");
    await world.finish(release);

    expect([hold.state, release.state]).toEqual(["done", "done"]);
    expect([world.marks(), world.hold()]).toEqual([{}, undefined]);
  });
});

describe("marks that cannot be removed", () => {
  it("are reported by every sweep with a growing delay", async () => {
    const world = threeNodes();
    world.launch();
    await world.pass(minutes(19));
    world.refuses = (call) => call.startsWith("patch");

    await world.pass(minutes(30));

    const lags = world.metrics.all("ReleaseLagMs");
    expect(lags).toEqual([0, 5, 10, 15, 20, 25].map(minutes));
  });

  it("are retried at most once a minute, however many sweeps retry too", async () => {
    const world = threeNodes();
    // Otherwise each sweep would run at the time of a one-shot.
    world.sweepEvery = seconds(5 * 60 + 1);
    world.launch();
    await world.pass(minutes(19));
    world.refuses = (call) => call.startsWith("patch");
    await world.pass(minutes(60));
    const before = world.oneShots.fired.size;

    await world.pass(minutes(60));

    expect(world.oneShots.fired.size - before).toBe(60);
  });
});

describe("a function that runs out of time", () => {
  it("continues marking in the next invocation", async () => {
    const world = threeNodes();
    world.sweepEvery = undefined;
    world.launch({ joinsAfter: null });
    const hold = await world.deliver();
    while (hold.waitsFor !== "patch b") await world.step(hold);
    world.time = after(world.time, minutes(2));
    await world.finish(hold);
    const held = () => [world.heldNodes(), world.metrics.all("LaunchToProtectedMs")];
    const first = held();

    await world.pass(seconds(1));

    expect(first).toEqual([["a"], []]);
    expect(held()).toEqual([["a", "b", "c"], [minutes(2)]]);
  });

  it("continues the release after a minute", async () => {
    const world = threeNodes();
    world.launch({ joinsAfter: null });
    await world.pass(minutes(19));
    world.sweepEvery = undefined;
    world.time = after(world.time, minutes(1));
    const release = await world.fireNext();
    while (release.waitsFor !== "patch b") await world.step(release);
    world.time = after(world.time, minutes(5));
    await world.finish(release);
    const first = world.heldNodes();

    await world.pass(minutes(1));

    expect(first).toEqual(["b", "c"]);
    expect([world.marks(), world.hold()]).toEqual([{}, undefined]);
  });
});
