import { describe, expect, it } from "vitest";
import { decideBoot, ofDemand } from "../../lambda/core/auto/boot.ts";
import { after, minutes } from "../../lambda/core/duration.ts";
import type { Hold } from "../../lambda/core/holds/hold.ts";
import type { NodeClaim } from "../../lambda/core/ports.ts";
import { decideUse } from "../../lambda/core/releases/extend-while-used.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aHold, aRecord, someRules } from "../support/builders.ts";

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

describe("a hold that is due while its nodes boot", () => {
  const claim = (minute: number, about: Partial<NodeClaim> = {}): NodeClaim => ({
    ...{ name: "a", createdAt: at(minute), ...about },
  });
  const due = (about: Partial<Hold> = {}) =>
    aRecord({ hold: aHold({ expiresAt: at(2), ...about }), lastLaunchAt: noon });
  const boot = (claims: readonly NodeClaim[] | undefined, about: Partial<Hold> = {}, minute = 2) =>
    decideBoot({
      record: due(about),
      holdId: holdId(1),
      claims,
      rules: someRules({ auto: { relaunchCost: minutes(1) } }),
      now: at(minute),
    });
  const extendedTo = (expiresAt: Date) => ({
    ...{ action: "extend", because: "its nodes have not been used yet", record: due({ expiresAt }) },
  });

  it("is asked about again in a minute while the youngest has not been used", () => {
    expect(boot([claim(-4), claim(0)])).toEqual(extendedTo(at(3)));
  });

  it("is not held for a boot longer than five minutes", () => {
    expect(boot([claim(-2.5)])).toEqual(extendedTo(at(2.5)));
    expect(boot([claim(-3)])).toEqual({ action: "leave", because: "no node of the hold is booting" });
  });

  it.each([
    ["all were used", [claim(0, { lastPodEventAt: at(1) })]],
    ["there is none", []],
  ])("ends when %s", (_, claims) => {
    expect(boot(claims)).toEqual({ action: "leave", because: "no node of the hold is booting" });
  });

  it("lasts for five minutes from the launch where use cannot be read", () => {
    expect(boot(undefined)).toEqual(extendedTo(at(5)));
  });

  it("is left alone when it lasts as long already, is over or another's, or nothing is learned", () => {
    const because = "the hold lasts as long already";
    expect(boot([claim(0)], { expiresAt: at(3) })).toEqual({ action: "leave", because });
    expect(boot([claim(0)], { state: "releasing" })).toEqual(over);
    expect(boot([claim(0)], { id: holdId(2) })).toEqual(over);
    const facts = { record: due(), holdId: holdId(1), claims: [claim(0)], now: at(2) };
    expect(decideBoot({ ...facts, rules: someRules() })).toEqual(over);
  });

  it("does not wait for a replacement, which takes over what ran elsewhere", () => {
    const replacements = [{ instance: "i-1", launchedAt: noon }];
    const [own, other, unknown] = [claim(0, { instance: "i-1" }), claim(0, { instance: "i-2" }), claim(0)];
    expect(ofDemand([own, other, unknown], aRecord({ replacements }))).toEqual([other, unknown]);
    expect(ofDemand([own], aRecord())).toEqual([own]);
  });
});
