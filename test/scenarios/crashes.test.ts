import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import {
  aboutToHold,
  aboutToRelease,
  all,
  holdCalls,
  mustBeReleased,
  mustHoldAndRelease,
  names,
  releaseCalls,
  steps,
  sweepCalls,
  withoutEvent,
} from "./one-hold.ts";

it("a pass has few steps, and reads the record, nodes and NodeClaims once each", () => {
  const patches = (nodes: readonly string[]) => nodes.map((name) => `patch ${name}`);
  expect(steps).toEqual({
    hold: ["instances", "claims", "list", "find", "write", ...patches(names), "arm", "enqueue"],
    release: ["claims", "list", "find", "write", ...patches(all), "remember", "write"],
    sweep: ["claims", "list", "list", "all", "write", ...patches(all), "arm", "noteSweep"],
  });
});

describe("a crash of the hold function", () => {
  it.each(holdCalls)("after %i calls leaves no node unmarked after the redelivery", async (calls) => {
    const world = aboutToHold();
    world.sweepEvery = undefined;
    world.crash = { name: "hold", calls };
    await world.pass(minutes(15));
    expect(world.heldNodes()).toEqual(all);
  });

  it.each(holdCalls)(
    "after %i calls is repaired by one sweep alone when the event is lost",
    async (calls) => {
      const world = aboutToHold();
      world.crash = { name: "hold", calls };
      await world.pass(seconds(1));
      world.queue.messages = [];
      await mustHoldAndRelease(world, after(noon, minutes(5)));
    },
  );
});

describe("a crash of the release function", () => {
  it.each(releaseCalls)("after %i calls is repaired by a retry alone", async (calls) => {
    const world = await aboutToRelease();
    world.sweepEvery = undefined;
    world.crash = { name: "release", calls };
    await mustBeReleased(world, after(noon, minutes(22)));
  });

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

describe("a launch during a release", () => {
  it("loses nothing, whichever calls of the two functions come first", async () => {
    for (const first of releaseCalls)
      for (const second of holdCalls) {
        const world = await aboutToRelease();
        world.time = after(world.time, seconds(1));
        const release = await world.fireNext();
        world.launch({ joinsAfter: seconds(40) });
        for (let n = 0; n < first; n++) await world.step(release);
        const hold = await world.deliver();
        for (let n = 0; n < second; n++) await world.step(hold);
        await world.finish(release);
        await world.finish(hold);
        await world.pass(minutes(6));

        const order = `${first} calls of the release, then ${second} of the hold`;
        expect(world.heldNodes(), order).toEqual([...all, "node-2"]);
        await world.pass(minutes(20));
        expect(world.marks(), order).toEqual({});
      }
  });
});
