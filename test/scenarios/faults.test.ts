import { describe, expect, it } from "vitest";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import type { Invocation, Verdict } from "../support/invocation.ts";
import { Story } from "../support/story.ts";

/** Runs the invocation with one of its calls going wrong. */
async function withFault(
  story: Story,
  invocation: Invocation,
  calls: number,
  verdict: Verdict,
): Promise<void> {
  while (invocation.state === "resting" && invocation.calls < calls) await story.step(invocation);
  await story.step(invocation, verdict);
  await story.finish(invocation);
}

function threeNodes(): Story {
  const story = new Story();
  for (const name of ["a", "b", "c"]) story.addNode(name);
  return story;
}

const faults = Array.from({ length: 20 }, (_, n) => n).flatMap((n): [number, Verdict][] => [
  [n, "refused"],
  [n, "answer lost"],
]);

describe("a call of the hold function that fails", () => {
  it.each(faults)("loses nothing: call %i, %s", async (calls, verdict) => {
    const story = threeNodes();
    story.launch();

    await withFault(story, await story.deliver(), calls, verdict);
    await story.pass(minutes(5));
    const held = story.heldNodes();
    await story.pass(minutes(15));

    expect(held).toEqual(["a", "b", "c", "node-1"]);
    expect([story.marks(), story.hold(), story.history().length]).toEqual([{}, undefined, 1]);
    expect(story.queue.deadLetters).toEqual([]);
  });
});

describe("a call of the release function that fails", () => {
  it.each(faults)("loses nothing, and needs no sweep: call %i, %s", async (calls, verdict) => {
    const story = threeNodes();
    story.launch();
    await story.pass(seconds(20 * 60 - 1));
    story.sweepEvery = undefined;
    story.time = new Date(story.time.getTime() + 1000);
    const [oneShot] = story.schedules.armed.values();

    if (oneShot) await withFault(story, await story.fire(oneShot), calls, verdict);
    await story.pass(minutes(5));

    expect([story.marks(), story.hold(), story.history().length]).toEqual([{}, undefined, 1]);
  });
});

describe("a scheduler that is out of order for hours", () => {
  it("keeps nobody from being marked nor from being released", async () => {
    const story = threeNodes();
    story.schedules.hooks = { before: () => Promise.reject(new TryAgainError("out of order")) };
    story.launch();

    await story.pass(minutes(5));
    const held = story.heldNodes();
    await story.pass(minutes(15));

    expect(held).toEqual(["a", "b", "c", "node-1"]);
    expect([story.marks(), story.hold(), story.history().length]).toEqual([{}, undefined, 1]);
  });
});

describe("a queue that takes nothing", () => {
  it("keeps no known launch from being held for", async () => {
    const story = threeNodes();
    story.launch({ joinsAfter: null });
    const unknown = story.launch({ joinsAfter: null });
    story.instances.unknownYet.add(unknown.instance);
    story.queue.hooks = { before: () => Promise.reject(new TryAgainError("out of order")) };

    await story.pass(seconds(1));

    expect(story.heldNodes()).toEqual(["a", "b", "c"]);
    expect(story.queue.messages).toHaveLength(2);
  });
});

describe("a node", () => {
  it("whose patch failed at the start is tried again before any sweep", async () => {
    const story = threeNodes();
    story.sweepEvery = undefined;
    const control = await story.ask({ do: "hold", reason: "nobody joins" });
    while (control.waitsFor !== "patch b") await story.step(control);
    await story.step(control, "refused");
    await story.finish(control);
    const atOnce = story.heldNodes();

    await story.pass(seconds(15));

    expect(atOnce).toEqual(["a", "c"]);
    expect(story.heldNodes()).toEqual(["a", "b", "c"]);
  });

  it("whose patch always fails is left to the sweep after a while", async () => {
    const story = threeNodes();
    story.sweepEvery = undefined;
    story.nodes.before = (call) => {
      if (call.kind === "patch" && call.node === "b") throw new TryAgainError("refused");
    };

    await story.control({ do: "hold", for: "1h" });
    await story.pass(minutes(10));

    expect(story.queue.messages).toEqual([]);
    expect(story.heldNodes()).toEqual(["a", "c"]);
  });

  it("whose patch always fails is told of by every sweep, though no function fails", async () => {
    const story = threeNodes();
    story.nodes.before = (call) => {
      if (call.kind === "patch" && call.node === "b") throw new TryAgainError("refused");
    };
    await story.control({ do: "hold", for: "1h" });
    await story.pass(minutes(15));
    const before = story.metrics.total("NodePatchFailures");

    await story.pass(minutes(15));

    expect(story.metrics.total("NodePatchFailures") - before).toBeGreaterThanOrEqual(3);
    expect(story.log.told("invocation failed")).toEqual([]);
  });

  it("deleted half-way through marking or releasing is no failure", async () => {
    const story = threeNodes();
    story.launch({ joinsAfter: null });
    const hold = await story.deliver();
    while (hold.waitsFor !== "patch b") await story.step(hold);
    story.nodes.remove("b");
    await story.finish(hold);
    await story.pass(seconds(20 * 60 - 1));
    story.time = new Date(story.time.getTime() + 1000);
    const [oneShot] = story.schedules.armed.values();
    if (!oneShot) throw new Error("nothing was armed");
    const release = await story.fire(oneShot);
    while (release.waitsFor !== "patch c") await story.step(release);
    story.nodes.remove("c");
    await story.finish(release);

    expect([hold.state, release.state]).toEqual(["done", "done"]);
    expect([story.marks(), story.hold()]).toEqual([{}, undefined]);
  });
});

describe("marks that cannot be taken off", () => {
  it("are told of at every sweep, later and later", async () => {
    const story = threeNodes();
    story.launch();
    await story.pass(minutes(19));
    story.nodes.before = (call) => {
      if (call.kind === "patch") throw new TryAgainError("refused");
    };

    await story.pass(minutes(30));

    const lags = story.metrics.all("ReleaseLagMs");
    expect(lags).toEqual([0, 5, 10, 15, 20, 25].map(minutes));
  });

  it("are tried once a minute and no more, however many sweeps try as well", async () => {
    const story = threeNodes();
    // Else each sweep would fall on the moment of a one-shot.
    story.sweepEvery = seconds(5 * 60 + 1);
    story.launch();
    await story.pass(minutes(19));
    story.nodes.before = (call) => {
      if (call.kind === "patch") throw new TryAgainError("refused");
    };
    await story.pass(minutes(60));
    const before = story.schedules.spent.size;

    await story.pass(minutes(60));

    expect(story.schedules.spent.size - before).toBe(60);
  });
});

describe("a function whose time is over", () => {
  it("goes on with marking in the next invocation", async () => {
    const story = threeNodes();
    story.sweepEvery = undefined;
    story.launch({ joinsAfter: null });
    const hold = await story.deliver();
    while (hold.waitsFor !== "patch b") await story.step(hold);
    story.time = new Date(story.time.getTime() + minutes(2));
    await story.finish(hold);
    const first = story.heldNodes();

    await story.pass(seconds(1));

    expect(first).toEqual(["a", "b"]);
    expect(story.heldNodes()).toEqual(["a", "b", "c"]);
  });

  it("goes on with releasing in a minute", async () => {
    const story = threeNodes();
    story.launch({ joinsAfter: null });
    await story.pass(minutes(19));
    story.sweepEvery = undefined;
    story.time = new Date(story.time.getTime() + minutes(1));
    const [oneShot] = story.schedules.armed.values();
    if (!oneShot) throw new Error("nothing was armed");
    const release = await story.fire(oneShot);
    while (release.waitsFor !== "patch b") await story.step(release);
    story.time = new Date(story.time.getTime() + minutes(5));
    await story.finish(release);
    const first = story.heldNodes();

    await story.pass(minutes(1));

    expect(first).toEqual(["c"]);
    expect([story.marks(), story.hold()]).toEqual([{}, undefined]);
  });
});
