import { describe, expect, it } from "vitest";
import { advise, adviseAll, type Question, usualHolds } from "../../cli/advise/advice.ts";
import { type InstanceEvent, type NodeLife, nodeLives } from "../../cli/advise/lives.ts";
import { type Plan, regrettedEnds, replay } from "../../cli/advise/replay.ts";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
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
  auto: false,
  relaunchCost: minutes(10),
  maxHold: hours(2),
  breather: minutes(10),
  scope: "cluster",
  regretWithin: minutes(15),
  begunBefore: minutes(3),
  ...about,
});
const aQuestion = (about: Partial<Question> = {}): Question => {
  const { hold: _, ...plan } = aPlan();
  return { ...plan, holds: usualHolds, relaunchCost: minutes(10), until: at(24 * 60), ...about };
};
/** Every quarter of an hour a node lives for five minutes. */
const churn = (times: number) => Array.from({ length: times }, (_, i) => aLife(i * 15, i * 15 + 5));

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

  it("releases an unused node at the end of the hold", () => {
    const { avoided, idle } = replay([aLife(0, 5)], aPlan());
    expect({ avoided, idle }).toEqual({ avoided: 0, idle: minutes(15) });
  });

  it("does not stop a disruption that started before the launch", () => {
    expect(replay([aLife(-100, 2), aLife(0)], aPlan()).kept).toEqual([]);
  });

  it("lets a spared launch extend the hold, because it uses nodes that are held", () => {
    const lives = [aLife(0, 5), aLife(10, 25)];
    expect(replay(lives, aPlan()).kept.map(({ to }) => to)).toEqual([at(10), at(30)]);
  });

  it("learns the length with auto: bursts that do not return cost idle time only once", () => {
    const sparse = Array.from({ length: 6 }, (_, i) => aLife(i * 60, i * 60 + 4));
    const { idle, avoided } = replay(sparse, aPlan({ auto: true }));
    expect({ idle, avoided }).toEqual({ idle: minutes(6), avoided: 0 });
  });

  it("learns the length with auto: it holds for bursts that return soon", () => {
    const dense = Array.from({ length: 6 }, (_, i) => aLife(i * 8, i * 8 + 5));
    expect(replay(dense, aPlan({ auto: true })).avoided).toBe(5);
  });

  it("keeps no node past the cap, nor in the breather after it", () => {
    const busy = Array.from({ length: 13 }, (_, i) => aLife(i * 10));
    const lives = [...busy, aLife(-50, 118), aLife(-50, 125)];
    const { kept } = replay(lives, aPlan());
    expect(kept.map(({ to }) => to)).toEqual([at(120)]);
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
    hold: fc.integer({ min: 0, max: 90 }).map(minutes),
    auto: fc.constant(false),
    relaunchCost: fc.constant(minutes(10)),
    maxHold: fc.constantFrom(0, minutes(90), hours(2)),
    breather: fc.constantFrom(0, minutes(10)),
    scope: fc.constantFrom("cluster" as const, "nodepool" as const),
    regretWithin: fc.integer({ min: 1, max: 60 }).map(minutes),
    begunBefore: fc.constantFrom(0, minutes(3)),
  });

  it("keeps once what Karpenter ended, for one like launch, and never longer than a hold may last", () => {
    fc.assert(
      fc.property(history, plans, (lives, plan) => {
        const { avoided, kept } = replay(lives, plan);
        expect(avoided).toBeLessThanOrEqual(regrettedEnds(lives, plan.regretWithin).size);
        expect(new Set(kept.map(({ life }) => life)).size).toBe(kept.length);
        const sparedOnes = kept.flatMap(({ spared }) => spared ?? []);
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

  it("changes nothing with a hold of no length", () => {
    fc.assert(
      fc.property(history, plans, (lives, plan) => {
        expect(replay(lives, { ...plan, hold: 0 })).toMatchObject({ avoided: 0, kept: [], idle: 0 });
      }),
    );
  });
});

describe("advice", () => {
  it("recommends the shortest hold with most of the possible benefit, and says why", () => {
    const { recommended, because } = advise("cluster", churn(20), aQuestion());
    // A launch holds, and each that it spares extends the hold, until the cap.
    expect(recommended).toMatchObject({ hold: minutes(20), avoided: 15 });
    expect(because).toMatch(
      /^20m would have avoided 15 of 19 regretted ends \(79 %\) for [\d.]+ idle node-hours/,
    );
  });

  it.each([
    ["nothing was taken away", [aLife(0), aLife(10)], "removed no node"],
    [
      "ends were seldom regretted",
      [...Array.from({ length: 30 }, (_, i) => aLife(i * 60, i * 60 + 30))],
      "only 0 of 30",
    ],
    [
      "nodes come back after every hold",
      Array.from({ length: 10 }, (_, i) => aLife(i * 170, i * 170 + 160)),
      "no hold tried",
    ],
  ])("reports that the holder would not help when %s", (_, lives, expected) => {
    const { recommended, because } = advise("cluster", lives, aQuestion());
    expect(recommended).toBeUndefined();
    expect(because).toContain("The holder would not help");
    expect(because).toContain(expected);
  });

  it("reports the cost in money where every price is known, and not where one is missing", () => {
    const lives = churn(5).map((life) => ({ ...life, instanceType: "m5.large" }));
    const priced = advise("cluster", lives, aQuestion({ priceOf: () => 6 }));
    for (const { money, idleMinutes } of priced.candidates) expect(money).toBeCloseTo(idleMinutes / 10);
    const unpriced = advise("cluster", lives, aQuestion({ priceOf: () => undefined, holds: [minutes(20)] }));
    expect(unpriced.candidates[0]).not.toHaveProperty("money");
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
    expect(nodeLives([end({ at: at(9) }), launch(), launch({ id: "e3" }), end()])).toEqual([
      { instance: "i-1", nodePool: "default", launchedAt: at(0), endedAt: at(5), endedBy: "karpenter" },
    ]);
  });

  it("name who ended a node", () => {
    expect(nodeLives([launch(), end({ by: "a user" })])[0]?.endedBy).toBe("others");
  });

  it("exclude instances that are not nodes", () => {
    expect(nodeLives([end()])).toEqual([]);
  });
});
