import { describe, expect, it } from "vitest";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { Scenario } from "../../simulator/scenario.ts";

/** Three nodes and a launch whose event is not handled yet. */
function aboutToHold(): Scenario {
  const world = new Scenario();
  for (const name of ["a", "b", "c"]) world.addNode(name);
  world.launch({ joinsAfter: seconds(40) });
  return world;
}

/** The same cluster with a hold that is released next. */
async function aboutToRelease(): Promise<Scenario> {
  const world = aboutToHold();
  await world.pass(seconds(19 * 60 + 59));
  return world;
}

/** The number of calls of the function without faults. */
async function callsOf(world: Scenario, name: "hold" | "release"): Promise<number> {
  let calls = 0;
  world.watch = (invocation) => {
    if (invocation.name === name) calls = Math.max(calls, invocation.calls);
  };
  await world.pass(seconds(1));
  return calls;
}

const holdCalls = await callsOf(aboutToHold(), "hold");
const releaseCalls = await callsOf(await aboutToRelease(), "release");
const each = (calls: number) => Array.from({ length: calls + 1 }, (_, n) => n);

describe("a crash of the hold function", () => {
  it("is tested after every call", () => {
    expect(holdCalls).toBeGreaterThan(10);
  });

  describe.each(each(holdCalls))("after %i calls", (calls) => {
    it("is repaired by the redelivery alone", async () => {
      const world = aboutToHold();
      world.sweepEvery = undefined;
      world.crash = { name: "hold", calls };

      await world.pass(minutes(13));
      const held = world.heldNodes();
      await world.pass(minutes(20));

      expect(held).toEqual(["a", "b", "c", "node-1"]);
      expect([world.marks(), world.hold(), world.history().length]).toEqual([{}, undefined, 1]);
    });

    it("is repaired by one sweep alone when the event is lost", async () => {
      const world = aboutToHold();
      world.crash = { name: "hold", calls };
      await world.pass(seconds(1));
      world.queue.messages = [];

      await world.pass(minutes(5));
      const held = world.heldNodes();
      await world.pass(minutes(20));

      expect(held).toEqual(["a", "b", "c", "node-1"]);
      expect([world.marks(), world.hold(), world.history().length]).toEqual([{}, undefined, 1]);
    });
  });
});

it.each(["hold", "sweep"] as const)(
  "how long a launch took to protect the cluster is recorded by the %s after a crash before the first mark",
  async (by) => {
    const world = aboutToHold();
    if (by === "hold") world.sweepEvery = undefined;
    const hold = await world.deliver();
    while (hold.waitsFor !== "list") await world.step(hold);
    hold.crash();
    await world.pass(minutes(15));

    const [took = 0, ...more] = world.metrics.all("LaunchToProtectedMs");
    expect(more).toEqual([]);
    expect(took).toBeGreaterThanOrEqual(by === "sweep" ? minutes(5) : minutes(12));
  },
);

describe("a crash of the release function", () => {
  it("is tested after every call", () => {
    expect(releaseCalls).toBeGreaterThan(8);
  });

  describe.each(each(releaseCalls))("after %i calls", (calls) => {
    it("is repaired by a retry alone", async () => {
      const world = await aboutToRelease();
      world.sweepEvery = undefined;
      world.crash = { name: "release", calls };

      await world.pass(minutes(2));

      expect([world.marks(), world.hold(), world.history().length]).toEqual([{}, undefined, 1]);
    });

    it("is repaired by one sweep alone", async () => {
      const world = await aboutToRelease();
      world.crash = { name: "release", calls };
      await world.pass(seconds(1));
      world.retries = [];

      await world.pass(minutes(5));

      expect([world.marks(), world.hold(), world.history().length]).toEqual([{}, undefined, 1]);
    });
  });
});

describe("a crash of the sweep", () => {
  it.each(each(20))("after %i calls is repaired by the next sweep", async (calls) => {
    const world = aboutToHold();
    world.queue.messages = [];
    world.crash = { name: "sweep", calls };

    await world.pass(minutes(10));
    const held = world.heldNodes();
    await world.pass(minutes(20));

    expect(held).toEqual(["a", "b", "c", "node-1"]);
    expect([world.marks(), world.hold(), world.history().length]).toEqual([{}, undefined, 1]);
  });
});
