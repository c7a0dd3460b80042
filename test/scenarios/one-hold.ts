import { expect } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import type { FunctionName, Invocation } from "../../simulator/invocation.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { noon } from "../../simulator/virtual-clock.ts";

export const names = ["a", "b", "c"];
export const all = [...names, "node-1"];

/** Three nodes and a launch whose event is not handled yet. */
export function aboutToHold(hold = minutes(20)): Scenario {
  const world = new Scenario({ hold });
  for (const name of names) world.addNode(name);
  world.launch({ joinsAfter: seconds(40) });
  return world;
}

/** The same cluster, whose launch only a sweep can find. */
export function withoutEvent(): Scenario {
  const world = aboutToHold();
  world.queue.messages = [];
  return world;
}

/** The same cluster, one second before its hold is due. */
export async function aboutToRelease(hold = minutes(20)): Promise<Scenario> {
  const world = aboutToHold(hold);
  await world.pass(hold - seconds(1));
  return world;
}

/** The same cluster, where a second launch has extended the hold by ten minutes: the one-shot finds it held. */
export async function aboutToLookAgain(): Promise<Scenario> {
  const world = aboutToHold();
  await world.pass(minutes(10));
  world.launch({ joinsAfter: seconds(40) });
  await world.pass(seconds(10 * 60 - 1));
  return world;
}

/** Three nodes and an event that asks for a hold and is not handled yet. */
export function aboutToHoldForEvent(): Scenario {
  const world = new Scenario();
  for (const name of names) world.addNode(name);
  world.sendHold({ cause: "event", name: "deployments", for: "20m" });
  return world;
}

/** With hold=auto: three nodes with work that must stay and an empty one, one second before the pass that lets it go. */
export async function aboutToLetGo(): Promise<Scenario> {
  const world = new Scenario({ auto: true, maxHold: minutes(8) });
  const annotations = { "karpenter.sh/do-not-disrupt": "true" };
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet" };
  for (const name of names) {
    world.addNode(name);
    world.cluster.pods.add({ name: `work-${name}`, node: name, owner, annotations });
  }
  world.launch({ joinsAfter: seconds(40) });
  world.sweepEvery = undefined;
  await world.pass(seconds(3 * 60 - 1));
  return world;
}

/** The same cluster, where only a sweep can let the node go. */
export async function aboutToLetGoBySweep(): Promise<Scenario> {
  const world = await aboutToLetGo();
  loseLooks(world);
  world.sweepEvery = minutes(1);
  return world;
}

/** Nothing but a sweep looks at the scope from now on. */
export function loseLooks(world: Scenario): void {
  world.queue.messages = [];
  world.retries = [];
  world.oneShots.armed.clear();
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

export const steps = {
  hold: await callsOf(aboutToHold(), "hold"),
  release: await callsOf(await aboutToRelease(), "release"),
  sweep: await callsOf(withoutEvent(), "sweep"),
  auto: await callsOf(await aboutToLetGo(), "release"),
};
const upTo = (calls: readonly string[]) => Array.from({ length: calls.length + 1 }, (_, n) => n);
export const holdCalls = upTo(steps.hold);
export const releaseCalls = upTo(steps.release);
export const sweepCalls = upTo(steps.sweep);
export const lookCalls = upTo(await callsOf(await aboutToLookAgain(), "release"));
export const requestCalls = upTo(await callsOf(aboutToHoldForEvent(), "hold"));
export const autoCalls = upTo(steps.auto);
export const autoSweepCalls = upTo(await callsOf(await aboutToLetGoBySweep(), "sweep"));

/** The nodes are held, then released, and history has one hold. */
export async function mustHoldAndRelease(world: Scenario, until: Date): Promise<void> {
  await world.pass(until.getTime() - world.time.getTime());
  expect(world.heldNodes()).toEqual(all);
  await mustBeReleased(world, after(until, minutes(16)));
}

export async function mustBeReleased(world: Scenario, until: Date, holds = 1): Promise<void> {
  await world.pass(until.getTime() - world.time.getTime());
  expect([world.marks(), world.hold(), world.history().length]).toEqual([{}, undefined, holds]);
}

/** The empty node alone is let go, and counted once; then the hold ends. */
export async function mustLetGo(world: Scenario, until: Date): Promise<void> {
  await world.pass(until.getTime() - world.time.getTime());
  expect(world.heldNodes()).toEqual(names);
  await mustBeReleased(world, after(noon, minutes(10)));
  expect(world.history()).toMatchObject([{ letGo: 1 }]);
}
