import { describe, expect, it } from "vitest";
import { type Bursts, noBursts } from "../../../lambda/core/auto/bursts.ts";
import { gapEnds } from "../../../lambda/core/auto/staircase.ts";
import { after, minutes } from "../../../lambda/core/duration.ts";
import type { ScopeRecord } from "../../../lambda/core/holds/hold.ts";
import {
  lengthAfter,
  observeLaunches,
  observeUses,
  settled,
  unwatched,
} from "../../../lambda/core/holds/learning.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aLaunch, aRecord, someRules } from "../../support/builders.ts";

const at = (minute: number) => after(noon, minutes(minute));
const rules = someRules({ auto: true });
const launch = (minute: number) => aLaunch({ instance: `i-${minute}`, launchedAt: at(minute) });

/** Four nodes were needed at noon. */
const learned: Bursts = {
  largest: 4,
  buckets: [0, 1, 2].map(() => ({ gaps: [], debt: 0 })),
  idle: [{ nodes: 4, since: noon }],
};
const gapsOf = ({ learned = noBursts }: ScopeRecord) =>
  learned.buckets.map(({ gaps }) =>
    gaps.flatMap((count, n) => (count > 0 ? [(gapEnds[n] ?? 0) / minutes(1)] : [])),
  );

describe("launches", () => {
  const observe = (record: ScopeRecord, minutesOfNews: readonly number[]) => {
    const news = minutesOfNews.map(launch);
    return observeLaunches(record, rules, { latest: news.at(-1) ?? launch(30), news });
  };

  it("end gaps at the first of them, and begin the next at the last, of all nodes of the burst", () => {
    const { record, heldUntil } = observe(aRecord({ learned }), [30, 25, 33]);
    const [gap] = gapsOf(record)[1] ?? [];
    expect(gap).toBeGreaterThanOrEqual(25);
    expect(gap).toBeLessThanOrEqual(25 * 1.25);
    expect(record.learned?.idle).toEqual([
      { nodes: 3, since: at(33), busy: true },
      { nodes: 4, since: noon, kept: minutes(10) },
    ]);
    expect(heldUntil > at(33)).toBe(true);
  });

  it("add to the nodes that a running hold has, not to those of one that is being released", () => {
    const beside = (state: "held" | "releasing") => {
      const { record } = observe(aRecord({ hold: aHold({ state, kept: 4 }) }), [30]);
      return [record.learned?.idle[0]?.nodes, record.hold?.kept];
    };
    expect([beside("held"), beside("releasing")]).toEqual([
      [5, 5],
      [1, 4],
    ]);
  });

  it("do not add to the nodes that a look has counted, but need themselves", () => {
    const needed = (kept: number, ...minutesOfNews: readonly number[]) =>
      observe(aRecord({ hold: aHold({ kept, keptAt: at(20) }) }), minutesOfNews).record.hold?.kept;
    expect([needed(4, 19, 21), needed(0, 20)]).toEqual([5, 1]);
  });

  it("teach nothing when none of them is new", () => {
    expect(observe(aRecord({ learned }), []).record.learned).toBe(learned);
  });

  it("are protected for five minutes while their nodes boot, however short the hold", () => {
    const short = someRules({ auto: true, relaunchCost: minutes(1) });
    const until = (news: readonly ReturnType<typeof launch>[]) =>
      observeLaunches(aRecord(), short, { latest: launch(0), news }).heldUntil;
    expect([until([launch(0)]), until([])]).toEqual([at(5), at(1)]);
  });
});

describe("the uses that a look sees", () => {
  const seen = (record: ScopeRecord, ...minutesOfUse: readonly number[]) =>
    observeUses(record, rules, minutesOfUse.map(at), at(9));

  it("are one burst within a minute, and bursts of their own before that", () => {
    const { learned: now } = seen(aRecord({ learned }), 10, 9.8, 6, 5.5, 5.2, 2);
    expect(now?.idle).toMatchObject([
      { nodes: 2, since: at(10) },
      { nodes: 3, since: at(6) },
      { nodes: 4, since: noon },
    ]);
  });

  it("may have begun at any time since the look before", () => {
    const bins = (lookedBefore: Date) =>
      gapsOf(observeUses(aRecord({ learned }), rules, [at(30)], lookedBefore))[0]?.length;
    expect([bins(at(29.9)), bins(at(5))]).toEqual([1, 3]);
  });

  it("teach nothing a second time", () => {
    const once = seen(aRecord({ learned }), 10, 6, 5.5);
    expect(seen(once, 10, 6, 5.5)).toBe(once);
    expect(seen(once)).toBe(once);
  });

  it("count for a running hold: how long its nodes were idle, and how many were needed again", () => {
    const hold = aHold({ startedAt: noon, kept: 3 });
    const used = seen(aRecord({ learned, hold }), 10, 10);
    expect(used.hold).toEqual({ ...hold, idleTime: 2 * minutes(10), spared: 2 });
    expect(settled(used.hold ?? hold, used, at(15))).toMatchObject({
      idleTime: minutes(2 * 10 + 2 * 5 + 15),
      spared: 2,
    });
    const over = aHold({ startedAt: noon, kept: 3, state: "releasing" });
    expect(seen(aRecord({ learned, hold: over }), 10, 10).hold).toEqual(over);
  });
});

describe("the length of a hold", () => {
  it("is learned with hold=auto only, and is never longer than the cap", () => {
    expect(lengthAfter(aRecord(), rules, 1)).toMatchObject({ length: minutes(10), action: "default" });
    expect(lengthAfter(aRecord(), someRules(), 1)).toBeUndefined();
    expect(lengthAfter(aRecord(), { ...rules, maxHold: minutes(5) }, 1)?.length).toBe(minutes(5));
  });

  it("is that of half of its burst", () => {
    const soon = gapEnds.map((end) => (end >= minutes(3) && end < minutes(4) ? 20 : 0));
    const late = gapEnds.map((end) => (end > minutes(60) && end < minutes(80) ? 20 : 0));
    const buckets = [soon, soon, late].map((gaps) => ({ gaps, debt: 0 }));
    const record = aRecord({ learned: { ...learned, buckets } });
    const lengths = [1, 4, 5, 8].map((nodes) => lengthAfter(record, rules, nodes)?.length);
    expect(lengths).toEqual([lengths[0], lengths[0], 0, 0]);
    expect(lengths[0]).toBeGreaterThan(minutes(3));
  });
});

describe("a scope whose hold is cut short", () => {
  it("learns that its nodes were idle for at least this long", () => {
    const cut = unwatched(aRecord({ learned }), at(6)).learned;
    expect(cut?.idle).toEqual([]);
    expect(cut?.buckets.map(({ gaps }) => gaps.length)).toEqual([
      gapEnds.length,
      gapEnds.length,
      gapEnds.length,
    ]);
  });

  it("does not change where nothing is learned", () => {
    const record = aRecord();
    expect(unwatched(record, at(6))).toBe(record);
  });
});
