import { describe, expect, it } from "vitest";
import { advise, adviseAll, type Question, usualHolds } from "../../cli/advise/advice.ts";
import { type InstanceEvent, type NodeLife, nodeLives } from "../../cli/advise/lives.ts";
import { type Plan, regrettedEnds, replay } from "../../cli/advise/replay.ts";
import { after, hours, minutes, parseDuration } from "../../lambda/core/duration.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import fc from "../support/fast-check.ts";

const at = (minute: number) => after(noon, minutes(minute));
let count = 0;
const aLife = (
  from: number,
  to?: number,
  nodePool = "default",
  endedBy: "karpenter" | "others" = "karpenter",
): NodeLife => ({
  instance: `i-${++count}`,
  nodePool,
  launchedAt: at(from),
  ...(to !== undefined && { endedAt: at(to), endedBy }),
});
const aPlan = (about: Partial<Plan> = {}): Plan => ({
  hold: minutes(20),
  maxHold: hours(2),
  breather: minutes(10),
  scope: "cluster",
  begunBefore: minutes(3),
  ...about,
});
const aQuestion = (about: Partial<Question> = {}): Question => {
  const { hold: _, ...plan } = aPlan();
  const asked = { cluster: "prod", holds: usualHolds, relaunchCost: minutes(10) };
  return { ...plan, ...asked, from: at(0), until: at(24 * 60), ...about };
};
/** Every so many minutes a node is launched, which lives for five minutes. */
const churn = (times: number, every = 10) =>
  Array.from({ length: times }, (_, i) => aLife(i * every, i * every + 5));

describe("a needless launch", () => {
  it("is an end soon followed by a launch in the same NodePool", () => {
    const lives = [aLife(0, 5), aLife(10, 60), aLife(100, 110, "other")];
    expect([...regrettedEnds(lives, minutes(15)).keys()]).toEqual([lives[0]]);
  });

  it("is not an end that others brought about, nor one followed too late or elsewhere", () => {
    const lives = [
      aLife(0, 5, "default", "others"),
      aLife(10, 20),
      aLife(21, 22, "other"),
      aLife(36, undefined),
    ];
    expect(regrettedEnds(lives, minutes(15)).size).toBe(0);
  });

  it("pairs each launch with one end only", () => {
    expect(regrettedEnds([aLife(0, 5), aLife(0, 6), aLife(10)], minutes(15)).size).toBe(1);
  });
});

describe("a replay with a holder", () => {
  it("keeps the node through the hold, so that the next launch is needless", () => {
    const { avoided, idle, kept } = replay([aLife(0, 5), aLife(10, 60)], aPlan());
    expect({ avoided, idle, kept: kept.length }).toEqual({ avoided: 1, idle: minutes(5), kept: 1 });
  });

  it("releases a node that is not needed again at the end of the hold", () => {
    const { avoided, idle } = replay([aLife(0, 5)], aPlan());
    expect({ avoided, idle }).toEqual({ avoided: 0, idle: minutes(15) });
  });

  it("does not stop a disruption that started before the launch", () => {
    expect(replay([aLife(-100, 2), aLife(0)], aPlan()).kept).toEqual([]);
  });

  it("lets every launch extend the hold, but those that it would have spared", () => {
    expect(replay([aLife(0, 5), aLife(4)], aPlan()).kept.map(({ to }) => to)).toEqual([at(24)]);
    expect(replay([aLife(0, 5), aLife(10, 15)], aPlan()).kept.map(({ to }) => to)).toEqual([at(10), at(20)]);
  });

  it("keeps no node past the cap, nor in the breather after it, and any after that", () => {
    const busy = Array.from({ length: 15 }, (_, i) => aLife(i * 10));
    const old = [118, 125, 131, 138].map((end) => aLife(-50, end));
    const { kept } = replay([...busy, ...old], aPlan());
    expect(kept.map(({ from, to }) => [from, to])).toEqual([
      [at(118), at(120)],
      [at(138), at(140)],
    ]);
  });

  it("holds by NodePool where asked to", () => {
    const lives = [aLife(0, undefined, "a"), aLife(-30, 5, "b")];
    expect(replay(lives, aPlan()).kept).toHaveLength(1);
    expect(replay(lives, aPlan({ scope: "nodepool" })).kept).toHaveLength(0);
  });

  const history = fc
    .array(
      fc.record({
        from: fc.integer({ min: 0, max: 600 }),
        lasts: fc.option(fc.integer({ min: 1, max: 120 }), { nil: undefined }),
        pool: fc.constantFrom("a", "b"),
        by: fc.constantFrom("karpenter" as const, "others" as const),
      }),
      { maxLength: 40 },
    )
    .map((all) => all.map(({ from, lasts, pool, by }) => aLife(from, lasts && from + lasts, pool, by)));
  const plans = fc.record({
    hold: fc.integer({ min: 1, max: 90 }).map(minutes),
    maxHold: fc.constantFrom(0, minutes(90), hours(2)),
    breather: fc.constantFrom(0, minutes(10)),
    scope: fc.constantFrom("cluster" as const, "nodepool" as const),
    begunBefore: fc.constantFrom(0, minutes(3)),
  });

  it("keeps once what Karpenter ended, for one like launch, and never longer than a hold may last", () => {
    fc.assert(
      fc.property(history, plans, (lives, plan) => {
        const { avoided, kept } = replay(lives, plan);
        expect(new Set(kept.map(({ life }) => life)).size).toBe(kept.length);
        const sparedOnes = kept.flatMap(({ spared }) => spared ?? []);
        expect(avoided).toBe(sparedOnes.length);
        expect(new Set(sparedOnes).size).toBe(sparedOnes.length);
        for (const { life, from, to, spared } of kept) {
          expect(life.endedBy).toBe("karpenter");
          expect(from).toEqual(life.endedAt);
          expect(to.getTime()).toBeGreaterThanOrEqual(from.getTime());
          if (plan.maxHold > 0) expect(to.getTime() - from.getTime()).toBeLessThanOrEqual(plan.maxHold);
          if (spared) expect(spared.nodePool).toBe(life.nodePool);
        }
      }),
    );
  });
});

describe("advice", () => {
  it("ranks every hold by one price, and recommends the largest net", () => {
    for (const lives of [churn(20), churn(20, 7)]) {
      const { candidates, recommended, because } = advise("cluster", lives, aQuestion());
      for (const { avoided, idle, net } of candidates) expect(net).toBeCloseTo(avoided / 6 - idle);
      expect(candidates).toEqual(candidates.toSorted((a, b) => b.net - a.net));
      expect(candidates.map(({ hold }) => hold)).toEqual(expect.arrayContaining([...usualHolds]));
      expect(recommended).toBe(candidates[0]);
      expect(because).toMatch(
        /^Recommended: hold=\w+ saves 1\d relaunches and costs [\d.]+ idle node-hours, net [\d.]+ node-hours in that time\.$/,
      );
    }
  });

  it("reports a month of a history that is long enough", () => {
    const [whole, month] = [47, 72].map((length) => {
      const question = aQuestion({ until: at(length * 60), holds: [minutes(10)] });
      const [one] = advise("cluster", churn(20), question).candidates;
      return one && [one.avoided, one.idle, one.net];
    });
    expect(month).toEqual(whole?.map((one) => expect.closeTo(10 * one)));
  });

  it.each([
    ["nothing was taken away", () => [aLife(0), aLife(10)], "Karpenter removed no node"],
    [
      "hardly a node was needed again",
      () => churn(3, 7),
      "only 2 of 3 removed nodes were needed again within 10m",
    ],
    [
      "nodes come back after every hold",
      () => Array.from({ length: 10 }, (_, i) => aLife(i * 170, i * 170 + 160)),
      "no hold tried",
    ],
  ])("recommends nothing when %s", (_, lives, expected) => {
    const { recommended, because } = advise("cluster", lives(), aQuestion());
    expect(recommended).toBeUndefined();
    expect(because).toContain("The holder would not help");
    expect(because).toContain(expected);
  });

  it("names the price from which a hold would pay, where none does", () => {
    const holds = [minutes(30)];
    const lives = churn(20, 18);
    const { recommended, because } = advise("cluster", lives, aQuestion({ holds }));
    expect(recommended).toBeUndefined();
    expect(because).toMatch(/^The holder would not pay .*; 30m would pay if one were worth more than \w+ /);
    const price = parseDuration(/than (\w+)/.exec(because)?.[1] ?? "") ?? 0;
    const [at, beyond] = [price, price + minutes(1)].map((relaunchCost) => {
      const { candidates } = advise("cluster", lives, aQuestion({ holds, relaunchCost }));
      return candidates.find(({ hold }) => hold === minutes(30))?.net;
    });
    expect(at).toBeLessThanOrEqual(0);
    expect(beyond).toBeGreaterThan(0);
  });

  it("reports the net in money, too", () => {
    const { candidates } = advise("cluster", churn(5), aQuestion({ priceOf: () => 6 }));
    for (const { money, net } of candidates) expect(money).toBeCloseTo(net * 6);
  });

  it("advises each NodePool separately when there are several", () => {
    const lives = [...churn(20), aLife(0, 300, "steady")];
    const advice = adviseAll(lives, aQuestion());
    expect(advice.map(({ of, recommended }) => [of, recommended !== undefined])).toEqual([
      ["cluster", true],
      ["nodepool/default", true],
      ["nodepool/steady", false],
    ]);
  });
});

describe("lives", () => {
  const launch = (about: Partial<Extract<InstanceEvent, { kind: "launched" }>> = {}): InstanceEvent => ({
    kind: "launched",
    id: "e1",
    at: at(0),
    instance: "i-1",
    nodePool: "default",
    by: "karpenter-role",
    ...about,
  });
  const end = (about: Partial<Extract<InstanceEvent, { kind: "terminated" }>> = {}): InstanceEvent => ({
    kind: "terminated",
    id: "e2",
    at: at(5),
    instance: "i-1",
    by: "karpenter-role",
    ...about,
  });

  it("count a duplicate launch once, and use the first of several ends", () => {
    const later = launch({ id: "e3", at: at(1), instance: "i-2" });
    expect(nodeLives([later, end({ at: at(9) }), launch(), launch({ id: "e3" }), end()])).toEqual([
      { instance: "i-1", nodePool: "default", launchedAt: at(0), endedAt: at(5), endedBy: "karpenter" },
      { instance: "i-2", nodePool: "default", launchedAt: at(1) },
    ]);
  });

  it("name who ended a node", () => {
    expect(nodeLives([launch(), end({ by: "a user" })])[0]?.endedBy).toBe("others");
  });

  it("exclude instances that are not nodes", () => {
    expect(nodeLives([end()])).toEqual([]);
  });
});
