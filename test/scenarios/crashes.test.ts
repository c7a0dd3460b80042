import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import {
  aboutToHold,
  aboutToHoldForEvent,
  aboutToLetGo,
  aboutToLetGoBySweep,
  aboutToLookAgain,
  aboutToRelease,
  all,
  autoCalls,
  autoSweepCalls,
  holdCalls,
  lookCalls,
  loseLooks,
  mustBeReleased,
  mustHoldAndRelease,
  mustLetGo,
  names,
  releaseCalls,
  requestCalls,
  steps,
  sweepCalls,
  withoutEvent,
} from "./one-hold.ts";

it("a pass has few steps, and reads the record, nodes, NodeClaims and pods once each", () => {
  const patches = (nodes: readonly string[]) => nodes.map((name) => `patch ${name}`);
  expect(steps).toEqual({
    hold: ["instances", "claims", "list", "find", "write", ...patches(names), "arm", "enqueue"],
    release: ["claims", "list", "find", "write", ...patches(all), "remember", "write"],
    sweep: ["claims", "list", "list", "all", "write", ...patches(all), "arm", "noteSweep"],
    auto: ["claims", "list", "budgets", "find", "pods", "write", "patch node-1", "arm", "enqueue"],
  });
});

type Invocation = Awaited<ReturnType<ReturnType<typeof aboutToHold>["deliver"]>>;
/** Lets an invocation make so many calls. */
async function step(world: ReturnType<typeof aboutToHold>, invocation: Invocation, calls: number) {
  for (let n = 0; n < calls; n++) await world.step(invocation);
}

describe("a crash of the hold function", () => {
  it.each(holdCalls)("after %i calls is repaired by the redelivery alone", async (calls) => {
    const world = aboutToHold();
    world.sweepEvery = undefined;
    world.crash = { name: "hold", calls };
    await mustHoldAndRelease(world, after(noon, minutes(13)));
  });

  it.each(requestCalls)(
    "that handles what an event asks for is repaired by the redelivery alone: after %i calls",
    async (calls) => {
      const world = aboutToHoldForEvent();
      world.sweepEvery = undefined;
      world.crash = { name: "hold", calls };
      await world.pass(minutes(13));
      expect(world.heldNodes()).toEqual(names);
      await mustBeReleased(world, after(noon, minutes(21)));
    },
  );

  it.each(holdCalls)("after %i calls is repaired by one sweep when the event is lost", async (calls) => {
    const world = aboutToHold();
    world.crash = { name: "hold", calls };
    await world.pass(seconds(1));
    world.queue.messages = [];
    await mustHoldAndRelease(world, after(noon, minutes(5)));
  });
});

describe("a crash of the release function", () => {
  it.each(releaseCalls)("after %i calls is repaired by a retry alone", async (calls) => {
    const world = await aboutToRelease();
    world.sweepEvery = undefined;
    world.crash = { name: "release", calls };
    await mustBeReleased(world, after(noon, minutes(22)));
  });

  it.each(lookCalls)(
    "that finds its scope held is repaired by a retry alone: after %i calls",
    async (calls) => {
      const world = await aboutToLookAgain();
      world.sweepEvery = undefined;
      world.crash = { name: "release", calls };
      await world.pass(minutes(9));
      expect(world.heldNodes()).toEqual([...all, "node-2"]);
      await mustBeReleased(world, after(noon, minutes(32)));
    },
  );

  it.each(releaseCalls)("after %i calls is repaired by one sweep alone", async (calls) => {
    const world = await aboutToRelease();
    world.crash = { name: "release", calls };
    await world.pass(seconds(1));
    world.retries = [];
    world.oneShots.armed.clear();
    await mustBeReleased(world, after(noon, minutes(25)));
  });
});

describe("a crash of the sweep", () => {
  it.each(sweepCalls)("after %i calls is repaired by the next one", async (calls) => {
    const world = withoutEvent();
    world.crash = { name: "sweep", calls };
    await mustHoldAndRelease(world, after(noon, minutes(10)));
  });
});

describe("with hold=auto, at a node that no longer pays, a crash", () => {
  it.each(autoCalls)("of the release function after %i calls is repaired by a retry alone", async (calls) => {
    const world = await aboutToLetGo();
    world.crash = { name: "release", calls };
    await mustLetGo(world, after(noon, minutes(5)));
  });

  it.each(autoCalls)("of the release function after %i calls is repaired by one sweep", async (calls) => {
    const world = await aboutToLetGo();
    world.crash = { name: "release", calls };
    await world.pass(seconds(1));
    loseLooks(world);
    world.sweepEvery = minutes(5);
    await mustLetGo(world, after(noon, minutes(5)));
  });

  it.each(autoSweepCalls)("of the sweep after %i calls is repaired by the next one", async (calls) => {
    const world = await aboutToLetGoBySweep();
    world.crash = { name: "sweep", calls };
    await mustLetGo(world, after(noon, minutes(5)));
  });
});

describe("a launch during a release", () => {
  it.each(releaseCalls)("removes no mark that is left at that moment: after %i calls", async (calls) => {
    const world = await aboutToRelease();
    world.sweepEvery = undefined;
    world.time = after(world.time, seconds(1));
    const release = await world.fireNext();
    while (release.calls < calls && release.state === "running") await world.step(release);
    const isEnded = world.hold()?.id !== holdId(1) || world.hold()?.ended !== undefined;
    const stillMarked = world.heldNodes();

    world.launch({ joinsAfter: seconds(40) });
    await world.finish(await world.deliver());
    await world.finish(release);
    await world.pass(minutes(2));

    expect(world.heldNodes()).toEqual([...all, "node-2"]);
    expect(world.hold()).toMatchObject({ startedAt: isEnded ? after(noon, minutes(20)) : noon });
    expect(world.hold()?.ended).toBeUndefined();
    for (const name of stillMarked) expect(world.nodes.history(name)).toEqual([undefined, "true"]);
    await mustBeReleased(world, after(noon, minutes(42)), isEnded ? 2 : 1);
  });

  it("loses nothing, whichever calls of the two functions come first", async () => {
    for (const first of releaseCalls)
      for (const second of holdCalls) {
        // A short hold, because these are many.
        const world = await aboutToRelease(minutes(7));
        world.time = after(world.time, seconds(1));
        const release = await world.fireNext();
        world.launch({ joinsAfter: seconds(40) });
        await step(world, release, first);
        const hold = await world.deliver();
        await step(world, hold, second);
        await world.finish(release);
        await world.finish(hold);
        await world.pass(minutes(6));

        const order = `${first} calls of the release, then ${second} of the hold`;
        expect(world.heldNodes(), order).toEqual([...all, "node-2"]);
        await world.pass(minutes(7));
        expect(world.marks(), order).toEqual({});
      }
  });
});

describe("a hold that starts during a sweep", () => {
  it("loses no mark, whichever calls of the two functions come first", async () => {
    for (const first of sweepCalls)
      for (const second of holdCalls) {
        const world = aboutToHold();
        for (const name of names) world.nodes.mark(name, holdId(0));
        const sweep = await world.sweep();
        await step(world, sweep, first);
        const hold = await world.deliver();
        await step(world, hold, second);
        const id = world.hold()?.id;
        const marked = id ? world.nodes.held(id) : [];
        await world.finish(sweep);
        const stillMarked = id ? world.nodes.held(id) : [];
        await world.finish(hold);

        const order = `${first} calls of the sweep, then ${second} of the hold`;
        expect(stillMarked, order).toEqual(expect.arrayContaining([...marked]));
        expect(world.heldNodes(), order).toEqual(names);
      }
  });
});
