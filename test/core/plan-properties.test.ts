import { expect, it } from "vitest";
import { hours } from "../../lambda/core/duration.ts";
import { planScope } from "../../lambda/core/plan.ts";
import type { Request, ScopeRecord } from "../../lambda/core/record.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { aLaunch, aQuiet, aRecord, aRequest, someRules } from "../support/builders.ts";
import fc from "../support/fast-check.ts";
import { at, nodesNamed } from "./plans.ts";

// Plans alone, one after the other, as an ideal world would carry them out.

const rules = someRules({ maxHold: hours(1) });

/** Launches at these minutes, each delivered so much later, and perhaps again. */
const launches = fc.array(
  fc.record({
    minute: fc.nat({ max: 120 }),
    deliveredAfter: fc.array(fc.nat({ max: 45 }), { minLength: 1, maxLength: 3 }),
  }),
  { maxLength: 20 },
);
type Delivery = Readonly<{ instance: string; launchedAt: Date; now: Date }>;

const deliveriesOf = (all: readonly Readonly<{ minute: number; deliveredAfter: number[] }>[]): Delivery[] =>
  all
    .flatMap(({ minute, deliveredAfter }, n) =>
      deliveredAfter.map((late) => ({ instance: `i-${n}`, launchedAt: at(minute), now: at(minute + late) })),
    )
    .toSorted((a, b) => a.now.getTime() - b.now.getTime());

const pass = (record: ScopeRecord, now: Date, deliveries: readonly Delivery[] = []) =>
  planScope({
    record,
    launches: deliveries.map(({ now: _, ...launch }) => aLaunch(launch)),
    rules,
    now,
    newId: holdId(now.getTime() / 1_000),
    canQueue: true,
  });

it("the order in which launches are reported does not matter", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 19 }), { minLength: 1 }), fc.gen(), (offsets, gen) => {
      const now = at(19);
      const all = offsets.map((minute, n) => ({ instance: `i-${n}`, launchedAt: at(minute), now }));
      const shuffled = gen(() => fc.shuffledSubarray(all, { minLength: all.length }));
      const endOf = (reported: readonly Delivery[]) => {
        const record = reported.reduce((held, one) => pass(held, now, [one]).record, aRecord());
        return [pass(record, now).until, record.figures.launches];
      };
      expect(endOf(shuffled)).toEqual(endOf(all));
      expect(pass(aRecord(), now, shuffled).until).toEqual(endOf(all)[0]);
    }),
  );
});

const requests = fc.array(
  fc.record({
    name: fc.constantFrom("a", "b"),
    until: fc.nat({ max: 60 }),
    releasedAt: fc.option(fc.nat({ max: 9 })),
  }),
  { maxLength: 4 },
);

it("the same facts change nothing a second time: no record, no one-shot, no message", () => {
  const facts = fc.record({
    all: launches,
    asked: requests,
    quiet: fc.option(fc.constantFrom("paused", "breather")),
    quietUntil: fc.nat({ max: 30 }),
    awaited: fc.option(fc.nat({ max: 30 })),
    drift: fc.option(fc.nat({ max: 30 })),
  });
  fc.assert(
    fc.property(facts, fc.nat({ max: 30 }), ({ all, asked, quiet, quietUntil, awaited, drift }, minute) => {
      const record = aRecord({
        requests: asked.map(
          ({ name, until, releasedAt }): Request => ({
            ...aRequest({ name, until: at(until) }),
            ...(releasedAt !== null && { releasedAt: at(releasedAt) }),
          }),
        ),
        ...(quiet && { quiet: aQuiet(quiet, { until: at(quietUntil) }) }),
      });
      const nodes = nodesNamed(["a"], {
        ...(awaited !== null && { awaitedSince: at(awaited) }),
        ...(drift !== null && { nextDriftEnd: at(drift) }),
      });
      const delivered = deliveriesOf(all).map(({ now: _, ...launch }) => aLaunch(launch));
      const known = { launches: delivered, nodes, rules, now: at(minute), canQueue: true, newId: holdId(1) };
      const first = planScope({ ...known, record });
      const second = planScope({ ...known, record: first.record });
      expect(second).toMatchObject({ isChanged: false, record: first.record, steps: [] });
      expect([second.oneShot, second.message, second.past]).toEqual([undefined, undefined, undefined]);
      expect(second.until).toEqual(first.until);
    }),
  );
});
