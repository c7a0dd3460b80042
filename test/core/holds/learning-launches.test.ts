import { describe, expect, it } from "vitest";
import { after, minutes } from "../../../lambda/core/duration.ts";
import type { ScopeRecord } from "../../../lambda/core/holds/hold.ts";
import { observeLaunches } from "../../../lambda/core/holds/learning.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aLaunch, aRecord, someRules } from "../../support/builders.ts";

const at = (minute: number) => after(noon, minutes(minute));
const rules = someRules({ auto: { relaunchCost: minutes(10) } });
const launch = (minute: number) => aLaunch({ instance: `i-${minute}`, launchedAt: at(minute) });
const watched = { gaps: [], debt: 0, idle: { since: noon, nodes: 1, length: minutes(10) } };

const observe = (record: ScopeRecord, minutesOfNews: readonly number[]) => {
  const news = minutesOfNews.map(launch);
  return observeLaunches(record, rules, { latest: news.at(-1) ?? launch(30), news }, at(40));
};

describe("launches with hold=auto", () => {
  it("end a gap at the first of them, and begin the next at the last, of all nodes of the burst", () => {
    const { record, heldUntil } = observe(aRecord({ learned: watched }), [30, 25, 33]);
    expect(record.learned).toMatchObject({
      gaps: [{ nodes: 1, atLeast: minutes(25), atMost: minutes(25) }],
      idle: { since: at(33), nodes: 3, busy: true },
    });
    expect(heldUntil > at(33)).toBe(true);
  });

  it("add to the nodes of a running hold, not to those of one that is being released", () => {
    const nodesBeside = (state: "held" | "releasing") =>
      observe(aRecord({ hold: aHold({ state, launches: 4 }) }), [30]).record.learned?.idle?.nodes;
    expect([nodesBeside("held"), nodesBeside("releasing")]).toEqual([5, 1]);
  });

  it("teach nothing when none of them is new", () => {
    const record = aRecord({ learned: watched });
    expect(observe(record, []).record).toBe(record);
  });
});
