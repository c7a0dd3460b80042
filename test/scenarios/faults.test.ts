import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import type { FunctionName, Invocation, Verdict } from "../../simulator/invocation.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const names = ["a", "b", "c"];
const all = [...names, "node-1"];

/** Three nodes and a launch whose event is not handled yet. */
function aboutToHold(): Scenario {
  const world = new Scenario();
  for (const name of names) world.addNode(name);
  world.launch({ joinsAfter: seconds(40) });
  return world;
}

/** The same cluster, whose launch only a sweep can find. */
function withoutEvent(): Scenario {
  const world = aboutToHold();
  world.queue.messages = [];
  return world;
}

/** The same cluster, one second before its hold is due. */
async function aboutToRelease(): Promise<Scenario> {
  const world = aboutToHold();
  await world.pass(seconds(20 * 60 - 1));
  return world;
}

/** The same cluster, where a second launch has extended the hold by ten minutes: the one-shot finds it held. */
async function aboutToLookAgain(): Promise<Scenario> {
  const world = aboutToHold();
  await world.pass(minutes(10));
  world.launch({ joinsAfter: seconds(40) });
  await world.pass(seconds(10 * 60 - 1));
  return world;
}

/** Three nodes and an event that asks for a hold and is not handled yet. */
function aboutToHoldForEvent(): Scenario {
  const world = new Scenario();
  for (const name of names) world.addNode(name);
  world.sendHold({ cause: "event", name: "deployments", for: "20m" });
  return world;
}

/** The calls of a function without faults. */
async function callsOf(world: Scenario, name: FunctionName): Promise<readonly string[]> {
  const calls: string[] = [];
  let first: Invocation | undefined;
  world.watch = (invocation, call) => {
    if (invocation.name === name) first ??= invocation;
    if (invocation === first && call !== "") calls.push(call);
  };
  await world.pass(minutes(5));
  return calls;
}

const steps = {
  hold: await callsOf(aboutToHold(), "hold"),
  release: await callsOf(await aboutToRelease(), "release"),
  sweep: await callsOf(withoutEvent(), "sweep"),
};
const upTo = (calls: readonly string[]) => Array.from({ length: calls.length + 1 }, (_, n) => n);
const holdCalls = upTo(steps.hold);
const releaseCalls = upTo(steps.release);
const sweepCalls = upTo(steps.sweep);
const lookCalls = upTo(await callsOf(await aboutToLookAgain(), "release"));
const requestCalls = upTo(await callsOf(aboutToHoldForEvent(), "hold"));

it("a pass has few steps, and reads the record, nodes and NodeClaims once each", () => {
  const patches = (nodes: readonly string[]) => nodes.map((name) => `patch ${name}`);
  expect(steps).toEqual({
    hold: ["instances", "claims", "list", "find", "write", ...patches(names), "arm", "enqueue"],
    release: ["claims", "list", "find", "write", ...patches(all), "remember", "write"],
    sweep: ["claims", "list", "list", "all", "write", ...patches(all), "arm", "noteSweep"],
  });
});

/** The nodes are held, then released, and history has one hold. */
async function mustHoldAndRelease(world: Scenario, until: Date): Promise<void> {
  await world.pass(until.getTime() - world.time.getTime());
  expect(world.heldNodes()).toEqual(all);
  await mustBeReleased(world, after(until, minutes(16)));
}

async function mustBeReleased(world: Scenario, until: Date, holds = 1): Promise<void> {
  await world.pass(until.getTime() - world.time.getTime());
  expect([world.marks(), world.hold(), world.history().length]).toEqual([{}, undefined, holds]);
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

describe("a hold that starts during a sweep", () => {
  it("loses no mark, whichever calls of the two functions come first", async () => {
    for (const first of sweepCalls)
      for (const second of holdCalls) {
        const world = aboutToHold();
        for (const name of names) world.nodes.mark(name, holdId(0));
        const sweep = await world.sweep();
        for (let n = 0; n < first; n++) await world.step(sweep);
        const hold = await world.deliver();
        for (let n = 0; n < second; n++) await world.step(hold);
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

describe("a queue that refuses messages", () => {
  it("prevents neither the hold of a known launch nor its end, and no launch is lost", async () => {
    const world = aboutToHold();
    const unknown = world.launch({ joinsAfter: null });
    world.ec2.unlisted.add(unknown.instance);
    world.refuses = (call) => call === "enqueue";
    await world.pass(seconds(1));

    expect(world.heldNodes()).toEqual(names);
    expect(world.queue.messages).toHaveLength(2);
    await mustHoldAndRelease(world, after(noon, minutes(5)));
  });
});

describe("a scheduler that fails for hours", () => {
  it("prevents neither marks nor releases", async () => {
    const world = aboutToHold();
    world.refuses = (call) => call === "arm";
    await mustHoldAndRelease(world, after(noon, minutes(5)));
  });
});
