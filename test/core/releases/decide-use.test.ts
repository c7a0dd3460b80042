import { describe, expect, it } from "vitest";
import { after, minutes } from "../../../lambda/core/duration.ts";
import type { Hold } from "../../../lambda/core/holds/hold.ts";
import { decideUse } from "../../../lambda/core/releases/extend-while-used.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord, someRules } from "../../support/builders.ts";

const at = (minute: number) => after(noon, minutes(minute));
const over = { action: "leave", because: "the hold is over" };

describe("a hold whose nodes were used", () => {
  const use = (minute: number, about: Partial<Hold> = {}, rules: Partial<Rules> = {}) =>
    decideUse({
      record: aRecord({ hold: aHold(about) }),
      holdId: holdId(1),
      usedAt: at(minute),
      rules: someRules(rules),
    });

  it("lasts from the last use on", () => {
    const hold = aHold({ expiresAt: at(30), extensions: 1, causes: { uses: 1, usedAt: at(10) } });
    expect(use(10, { causes: {} })).toEqual({
      action: "extend",
      because: "its nodes are in use",
      record: aRecord({ hold }),
    });
  });

  it("ends at its cap, which is reported once", () => {
    expect(use(110, {}, { maxHold: minutes(120) })).toMatchObject({
      action: "cap",
      record: { hold: { expiresAt: at(120), capped: true } },
    });
    expect(use(110, { capped: true }, { maxHold: minutes(120) }).action).toBe("extend");
  });

  it("does not last longer for a use from before its last cause", () => {
    expect(use(0)).toEqual({
      action: "leave",
      because: "its nodes were not used since, or not for longer than it lasts",
    });
  });

  it("is left alone when it is over or another's", () => {
    expect(use(10, { state: "releasing" })).toEqual(over);
    expect(use(10, { id: holdId(2) })).toEqual(over);
    const facts = { record: aRecord(), holdId: holdId(1), usedAt: at(10), rules: someRules() };
    expect(decideUse(facts)).toEqual(over);
  });

  it("is left alone when only replacements were used", () => {
    const record = aRecord({ hold: aHold() });
    expect(decideUse({ record, holdId: holdId(1), usedAt: undefined, rules: someRules() })).toEqual({
      action: "leave",
      because: "only replacements were used",
    });
  });

  it("has the learned length, and is learned from also where it is not extended", () => {
    const auto = { auto: { relaunchCost: minutes(10) } };
    expect(use(15, { launches: 3 }, auto)).toMatchObject({
      length: { action: "default" },
      record: { hold: { length: { length: minutes(10) } }, learned: { idle: { since: at(15), nodes: 3 } } },
    });
    expect(use(5, { launches: 0 }, auto)).toMatchObject({
      action: "leave",
      record: { learned: { idle: { since: at(5), nodes: 1 } } },
    });
    expect(use(5, {}, auto).record?.hold).not.toHaveProperty("length");
  });
});
