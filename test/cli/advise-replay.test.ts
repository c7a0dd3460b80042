import { describe, expect, it } from "vitest";
import type { History, Removal } from "../../cli/advise/history.ts";
import { type HolderRules, type Policy, replay } from "../../cli/advise/replay.ts";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { endOf } from "../../lambda/core/launches.ts";
import fc from "../support/fast-check.ts";
import { at } from "./karpenter-lines.ts";
import { history, launch, removal } from "./lived.ts";

const withoutShare = ({ share: _, ...rest }: Removal): Removal => rest;
const delay = (duration: number): Policy => ({ waits: (one) => after(one.at, duration) });
const holding = (more: Partial<HolderRules> = {}): Policy => {
  const rules = { hold: minutes(20), auto: false, maxHold: hours(2), breather: minutes(10), ...more };
  return { rules, waits: (one, hold) => (hold ? endOf(hold, rules).at : one.at) };
};
const kept = (lived: History, policy: Policy) =>
  replay(lived, policy).map(({ from, to, spared }) => [from, to, spared !== undefined]);

describe("a replay", () => {
  it("lets a node that is kept take the next launch in its NodePool", () => {
    expect(kept(history([launch(8)], [removal(5)]), delay(minutes(5)))).toEqual([[at(5), at(8), true]]);
  });

  it("removes it later where no launch came in that time, or one in another NodePool", () => {
    const later = [[at(5), at(10), false]];
    expect(kept(history([], [removal(5)]), delay(minutes(5)))).toEqual(later);
    expect(kept(history([launch(11)], [removal(5)]), delay(minutes(5)))).toEqual(later);
    expect(kept(history([launch(8, { nodePool: "other" })], [removal(5)]), delay(minutes(5)))).toEqual(later);
  });

  it("changes nothing about drift, replacements of unknown size, and nodes that replace others", () => {
    const removals = [removal(5, { reason: "Drifted" }), withoutShare(removal(5))];
    expect(kept(history([launch(8)], removals), delay(minutes(5)))).toEqual([]);
    expect(kept(history([launch(8, { isReplacement: true })], [removal(5)]), delay(minutes(5)))).toEqual([
      [at(5), at(10), false],
    ]);
  });

  it("takes a removal at the time of a launch for the earlier one", () => {
    expect(kept(history([launch(5)], [removal(5)]), delay(minutes(5)))).toEqual([[at(5), at(5), true]]);
  });

  it("keeps to the end what is never removed, and marks it", () => {
    const never: Policy = { waits: () => undefined };
    expect(replay(history([], [removal(5)], 60), never)).toMatchObject([{ to: at(60), isOpen: true }]);
  });

  it("lets each launch extend a hold, but those that it spares, and those that replace a node", () => {
    expect(kept(history([launch(0), launch(4)], [removal(5)]), holding())).toEqual([[at(5), at(24), false]]);
    const spared = history([launch(0), launch(10)], [removal(5), removal(15)]);
    expect(kept(spared, holding())).toEqual([
      [at(5), at(10), true],
      [at(15), at(20), false],
    ]);
    const replaced = history([launch(0), launch(4, { isReplacement: true })], [removal(5)]);
    expect(kept(replaced, holding())).toEqual([[at(5), at(20), false]]);
  });

  it("keeps no node past the cap, nor in the breather after it, and any after that", () => {
    const busy = Array.from({ length: 15 }, (_, i) => launch(i * 10));
    const removals = [118, 125, 131, 138].map((minute) => removal(minute, { nodePool: "other" }));
    expect(kept(history(busy, removals), holding()).filter(([from, to]) => from !== to)).toEqual([
      [at(118), at(120), false],
      [at(131), at(160), false],
      [at(138), at(160), false],
    ]);
  });

  const minute = fc.integer({ min: 0, max: 600 });
  const pool = fc.constantFrom("a", "b");
  const moments = fc.array(fc.record({ at: minute, nodePool: pool }), { maxLength: 30 });
  const lived = fc.record({ launches: moments, removals: moments });
  const policies = fc.oneof(
    fc.integer({ min: 0, max: 90 }).map((n) => delay(minutes(n))),
    fc
      .record({ hold: fc.integer({ min: 1, max: 90 }).map(minutes), maxHold: fc.constantFrom(0, hours(2)) })
      .map(holding),
    fc.constant<Policy>({ waits: () => undefined }),
  );

  it("keeps each node once, for one launch in its NodePool, and never before its real end", () => {
    fc.assert(
      fc.property(lived, policies, ({ launches, removals }, policy) => {
        const launched = launches.map(({ at, nodePool }) => launch(at, { nodePool }));
        const removed = removals.map(({ at, nodePool }) => removal(at, { nodePool }));
        const all = replay(history(launched, removed), policy);
        expect(new Set(all.map((one) => one.removal)).size).toBe(all.length);
        const spared = all.flatMap((one) => one.spared ?? []);
        expect(new Set(spared).size).toBe(spared.length);
        for (const one of all) {
          expect(one.to.getTime()).toBeGreaterThanOrEqual(one.from.getTime());
          expect(one.from).toEqual(one.removal.at);
          if (one.spared) expect(one.spared.nodePool).toBe(one.removal.nodePool);
        }
      }),
    );
  });
});
