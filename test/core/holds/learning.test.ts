import { describe, expect, it } from "vitest";
import type { Learned } from "../../../lambda/core/auto/learned.ts";
import { after, minutes } from "../../../lambda/core/duration.ts";
import { learnedLength, observe, unwatched } from "../../../lambda/core/holds/learning.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord, someRules } from "../../support/builders.ts";

const at = (minute: number) => after(noon, minutes(minute));
const auto = { relaunchCost: minutes(10) };
const rules = someRules({ auto });
const use = { at: at(6), nodes: 2, kind: "pods" } as const;
const learned: Learned = { gaps: [], debt: 0, idle: { since: noon, nodes: 1, length: minutes(10) } };
const { idle: _, ...nothingIdle } = learned;

describe("a use", () => {
  it("chooses the length from then on, and notes what the nodes are held for", () => {
    const { record, rules: own, length } = observe(aRecord({ learned }), rules, use);
    expect(record.learned).toMatchObject({
      gaps: [{ nodes: 1, atMost: minutes(6) }],
      idle: { since: at(6), nodes: 2, length: length?.length },
    });
    expect(own).toEqual({ ...rules, hold: length?.length });
  });

  it("during a hold ends a gap that may have been shorter", () => {
    const { record } = observe(aRecord({ learned, hold: aHold() }), rules, use);
    expect(record.learned?.gaps).toEqual([{ nodes: 1, atLeast: 0, atMost: minutes(6) }]);
  });

  it("that was counted before teaches nothing", () => {
    const record = aRecord({ learned });
    const observed = observe(record, rules, { ...use, at: noon });
    expect(observed.record).toBe(record);
    expect(observed.rules.hold).toBe(observed.length?.length);
  });

  it("with a fixed length changes no rule and drops the present gap", () => {
    const set = someRules();
    const observed = observe(aRecord({ learned }), set, use);
    expect(observed).toEqual({ record: aRecord({ learned: nothingIdle }), rules: set });
    const record = aRecord({ learned: nothingIdle });
    expect(observe(record, set, use).record).toBe(record);
  });
});

it("a length is learned with hold=auto only, and is never longer than the cap", () => {
  expect(learnedLength(aRecord(), rules)).toMatchObject({ length: minutes(10), action: "default" });
  expect(learnedLength(aRecord(), someRules())).toBeUndefined();
  const capped = someRules({ auto, maxHold: minutes(5) });
  expect(learnedLength(aRecord(), capped)?.length).toBe(minutes(5));
});

describe("a scope whose hold is cut short", () => {
  it("learns that its nodes were idle for at least this long", () => {
    const record = unwatched(aRecord({ learned }), at(6));
    expect(record.learned).toMatchObject({ gaps: [{ nodes: 1, atLeast: minutes(6) }] });
    expect(record.learned).not.toHaveProperty("idle");
  });

  it("learns nothing from a burst that was still on", () => {
    const busy = { ...learned, idle: { since: noon, nodes: 1, length: minutes(10), busy: true as const } };
    expect(unwatched(aRecord({ learned: busy, hold: aHold() }), at(6)).learned).toEqual(nothingIdle);
    expect(unwatched(aRecord({ learned: busy }), at(6)).learned?.gaps).toHaveLength(1);
  });

  it("does not change where it measures no gap", () => {
    for (const record of [aRecord(), aRecord({ learned: nothingIdle })])
      expect(unwatched(record, at(6))).toBe(record);
  });
});
