import { expect, it } from "vitest";
import { decideLengthNow } from "../../../lambda/core/auto/decide-hold-length.ts";
import { isSpent, spentWith } from "../../../lambda/core/auto/idle-budget.ts";
import { learnFromUse, nothingLearned } from "../../../lambda/core/auto/learned.ts";
import { after, hours, minutes } from "../../../lambda/core/duration.ts";
import { noon } from "../../../simulator/virtual-clock.ts";

const tomorrow = after(noon, hours(24));
const terms = { relaunchCost: minutes(10), cap: hours(2) };

it("counts idle time by UTC day: a new day begins at nothing, and a late word of an old day changes nothing", () => {
  const today = spentWith(spentWith(undefined, minutes(20), noon), minutes(15), after(noon, hours(11)));
  expect(today.idle).toBe(minutes(35));
  const next = spentWith(today, minutes(1), tomorrow);
  expect(next.idle).toBe(minutes(1));
  expect(spentWith(next, minutes(20), noon)).toEqual(next);
});

it("is spent on its own day only, and not before it is used up", () => {
  const spent = spentWith(undefined, minutes(20), noon);
  expect(isSpent(spent, minutes(20), noon)).toBe(true);
  expect(isSpent(spent, minutes(21), noon)).toBe(false);
  expect(isSpent(spent, minutes(20), tomorrow)).toBe(false);
  expect(isSpent(undefined, minutes(20), noon)).toBe(false);
});

/** Two nodes that were idle for half an hour, of which they were held for this long. */
const heldFor = (length: number, limited = false) =>
  learnFromUse(
    { ...nothingLearned, idle: { since: noon, nodes: 2, length, ...(limited && { limited: true }) } },
    { at: after(noon, minutes(30)), nodes: 1, kind: "launch", held: false },
    terms,
  );

it("counts what nodes were held without use, not how long they would have been", () => {
  expect(heldFor(minutes(10)).spent?.idle).toBe(minutes(20));
  expect(heldFor(hours(2)).spent?.idle).toBe(minutes(60));
  expect(heldFor(0).spent).toBeUndefined();
});

it("makes the length 0 until midnight, with its reason; without a budget nothing changes", () => {
  const now = after(noon, minutes(30));
  const lengthAt = (at: Date, idleBudget?: number) =>
    decideLengthNow(heldFor(minutes(10)), terms.relaunchCost, { ...terms, idleBudget, now: at });
  expect(lengthAt(now, minutes(20))).toMatchObject({
    length: 0,
    action: "limited",
    because: "the day's idle budget of 20m is spent, until midnight UTC",
  });
  expect(lengthAt(now, minutes(21))).toEqual(lengthAt(now));
  expect(lengthAt(tomorrow, minutes(20))).toEqual(lengthAt(now));
});

it("is not held against the learned lengths", () => {
  const short = (limited: boolean) =>
    learnFromUse(
      { ...nothingLearned, idle: { since: noon, nodes: 2, length: 0, ...(limited && { limited: true }) } },
      { at: after(noon, minutes(2)), nodes: 1, kind: "launch", held: false },
      terms,
    ).debt;
  expect(short(false)).toBeGreaterThan(0);
  expect(short(true)).toBe(0);
});
