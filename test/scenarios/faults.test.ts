import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import type { Invocation, Verdict } from "../../simulator/invocation.ts";
import type { Scenario } from "../../simulator/scenario.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import {
  aboutToHold,
  aboutToRelease,
  all,
  holdCalls,
  mustBeReleased,
  mustHoldAndRelease,
  releaseCalls,
} from "./one-hold.ts";

/** Runs an invocation with a fault at one of its calls. */
async function withFault(world: Scenario, invocation: Invocation, calls: number, verdict: Verdict) {
  while (invocation.state === "running" && invocation.calls < calls) await world.step(invocation);
  await world.step(invocation, verdict);
  await world.finish(invocation);
}

describe.each(["refused", "answer lost"] as const)("a call that fails: %s", (verdict) => {
  it.each(holdCalls)("loses nothing of the hold function: call %i", async (calls) => {
    const world = aboutToHold();
    await withFault(world, await world.deliver(), calls, verdict);
    await mustHoldAndRelease(world, after(noon, minutes(5)));
    expect(world.queue.deadLetters).toEqual([]);
  });

  it.each(releaseCalls)("loses nothing of the release function: call %i", async (calls) => {
    const world = await aboutToRelease();
    world.sweepEvery = undefined;
    world.time = after(world.time, seconds(1));
    await withFault(world, await world.fireNext(), calls, verdict);
    await mustBeReleased(world, after(noon, minutes(25)));
  });
});

describe("a cluster that is unreachable for ten minutes", () => {
  it("is held as soon as it answers, and released on time", async () => {
    const world = aboutToHold();
    world.refuses = (call) => /^(list|claims|get|patch)/.test(call);
    await world.pass(minutes(10));
    const meanwhile = [world.marks(), world.hold()?.startedAt];
    world.refuses = () => false;
    await world.pass(minutes(5));

    expect(meanwhile).toEqual([{}, noon]);
    await mustHoldAndRelease(world, after(noon, minutes(15)));
  });

  it("is released as soon as it answers", async () => {
    const world = await aboutToRelease();
    world.hangs = (call) => /^(list|claims|get|patch)/.test(call);
    await world.pass(minutes(10));
    const meanwhile = world.heldNodes();
    world.hangs = () => false;

    expect(meanwhile).toEqual(all);
    await mustBeReleased(world, after(world.time, minutes(5)));
    expect(world.history()).toMatchObject([{ endedBecause: "the hold expired" }]);
  });
});
