import { describe, expect, it } from "vitest";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { noPauses } from "../../lambda/core/pauses.ts";
import type { Account } from "../../lambda/core/pays.ts";
import type { PlanFacts } from "../../lambda/core/plan.ts";
import { aHeldRecord, aHold, aRecord, aRequest, someRules } from "../support/builders.ts";
import { at, launchAt, nodesNamed, Passes, planAt } from "./plans.ts";

const second = 1 / 60;

describe("the one-shot", () => {
  it("is set for the end of the hold, once", () => {
    const passes = new Passes();
    expect(passes.at(0, [launchAt(0)]).oneShot).toEqual(at(20));
    expect(passes.at(1)).toMatchObject({ isChanged: false });
    expect(passes.at(2, [launchAt(0)]).oneShot).toBeUndefined();
  });

  it("stays where the hold was extended, and is set anew when it fires", () => {
    const passes = new Passes();
    passes.at(0, [launchAt(0)]);
    expect(passes.at(10, [launchAt(10)]).oneShot).toBeUndefined();
    expect(passes.at(20 + 5 * second)).toMatchObject({ until: at(30), oneShot: at(30) });
  });

  it.each([
    ["fires a little early by this clock", 20 - second, at(20.5)],
    ["would come a moment before the end", 20 - 20 * second, at(20 + 10 * second)],
  ])("that %s is set again, half a minute later", (_, minute, expected) => {
    const looks = { oneShot: at(20) };
    expect(planAt(minute, { record: aHeldRecord({ looks }) }).oneShot).toEqual(expected);
  });

  it("that was lost is replaced by the next pass, and the end is not later for it", () => {
    const record = aHeldRecord({ looks: { oneShot: at(20) }, requests: [aRequest({ until: at(40) })] });
    expect(planAt(24, { record }).oneShot).toEqual(at(40));
    expect(planAt(44, { record }).until).toBeUndefined();
  });

  it("comes sooner where maxHold was lowered or a request was released", () => {
    const launchHold = { startedAt: at(0), lastLaunchAt: at(90) };
    const record = aHeldRecord({ launchHold, looks: { oneShot: at(110) } });
    expect(planAt(91, { record, rules: someRules({ maxHold: minutes(100) }) }).oneShot).toEqual(at(100));
  });

  it("comes sooner where a drifted node has waited for long enough", () => {
    const nodes = nodesNamed(["a"], { nextDriftEnd: at(7) });
    const passes = new Passes({}, aHeldRecord({ looks: { oneShot: at(20) } }));
    expect(passes.at(1, [], { nodes }).oneShot).toEqual(at(7));
    expect(passes.at(7).oneShot).toEqual(at(20));
  });

  it("of a hold that has ended is left as it was", () => {
    const hold = aHold({ ended: { at: at(20), because: "the hold expired" } });
    const { record, oneShot } = planAt(21, { record: aRecord({ hold, looks: { oneShot: at(22) } }) });
    expect([record.looks, oneShot]).toEqual([{ oneShot: at(22) }, undefined]);
  });

  it("is not set where nothing is held", () => {
    const nodes = nodesNamed(["a"], { nextDriftEnd: at(7) });
    expect(planAt(1, { nodes }).record.looks).toEqual({});
  });
});

describe("the message for nodes that boot", () => {
  const booting = nodesNamed([], { awaitedSince: at(0) });
  const delayAt = (minute: number, about = {}) =>
    planAt(minute, { record: aHeldRecord(), nodes: booting, ...about }).message?.delay;

  it.each([
    [0, seconds(10)],
    [2 - second, seconds(10)],
    [2, seconds(30)],
    [4, minutes(1)],
    [10 - second, minutes(1)],
    [10, undefined],
  ])("comes soon at first and seldom later: %d minutes after the launch", (minute, delay) => {
    expect(delayAt(minute)).toBe(delay);
  });

  it("is sent for a launch of any kind, also where a person alone asks for the hold", () => {
    const record = aRecord({ requests: [aRequest()] });
    expect(delayAt(0, { record })).toBe(seconds(10));
  });

  it("is one at a time: the passes of a burst send no more, and the one that arrives sends the next", () => {
    const passes = new Passes();
    const nodes = booting;
    expect(passes.at(0, [launchAt(0)], { nodes }).message?.delay).toBe(seconds(10));
    for (const late of [1, 2, 3])
      expect(passes.at(late * second, [launchAt(late)], { nodes }).message).toBeUndefined();
    expect(passes.at(10 * second, [], { nodes }).message?.delay).toBe(seconds(10));
  });

  it("that arrives a little early by this clock is followed by the next one", () => {
    const record = aHeldRecord({ looks: { message: at(1) } });
    expect(delayAt(1 - 4 * second, { record })).toBe(seconds(10));
  });

  it("does not wait for one that comes later", () => {
    const record = aHeldRecord({ looks: { message: at(1) } });
    expect(delayAt(0, { record })).toBe(seconds(10));
  });

  it("that was lost is replaced by the next pass", () => {
    expect(delayAt(1.5, { record: aHeldRecord({ looks: { message: at(1) } }) })).toBe(seconds(10));
  });

  it.each([
    ["all nodes have joined", { nodes: nodesNamed(["a"]) }],
    ["nothing is held", { record: aRecord() }],
    ["the cluster could not be read", { nodes: undefined }],
  ])("is not sent where %s", (_, about) => {
    expect(delayAt(0, about)).toBeUndefined();
  });
});

describe("the message while Karpenter may take a node that was let go", () => {
  const letGo = (minute: number, about: Partial<Account> = {}): Account => ({
    ...{ at: at(20), nodes: 3, pauses: noPauses, wasted: {}, leftAlone: {} },
    ...{ letGo: { a: at(minute) }, ...about },
  });
  const messageAt = (minute: number, account: Account, about: Partial<PlanFacts> = {}) =>
    planAt(minute, {
      ...{ record: aHeldRecord({ account }), rules: someRules({ auto: true }) },
      ...{ nodes: nodesNamed(["a", "b", "c"]), ...about },
    }).message;

  it("comes in twenty seconds, and its pass reads the pods", () => {
    expect(messageAt(5, letGo(5))).toEqual({ delay: seconds(20), isLook: true });
    expect(messageAt(15 - second, letGo(5))).toEqual({ delay: seconds(20), isLook: true });
  });

  it("comes sooner where a node boots", () => {
    const nodes = nodesNamed(["a", "b", "c"], { awaitedSince: at(5) });
    expect(messageAt(5, letGo(5), { nodes })).toEqual({ delay: seconds(10), isLook: true });
    expect(messageAt(10, letGo(9), { nodes })).toEqual({ delay: seconds(20), isLook: true });
  });

  it.each<[string, Account, Partial<PlanFacts>]>([
    ["no node is let go", letGo(5, { letGo: {} }), {}],
    ["Karpenter has had ten minutes", letGo(-5), {}],
    ["the node has its turn and is needed", letGo(5, { wasted: { a: 0 } }), {}],
    ["nothing is marked", letGo(5), { rules: someRules({ auto: true, mode: "observe" }) }],
    ["the pods are too many to be read so often", letGo(5, { pods: 10_001 }), {}],
    [
      "a request holds all nodes",
      letGo(5),
      { record: aRecord({ requests: [aRequest()], account: letGo(5) }) },
    ],
  ])("is not sent where %s", (_, account, about) => {
    expect(messageAt(5, account, about)).toBeUndefined();
  });
});
