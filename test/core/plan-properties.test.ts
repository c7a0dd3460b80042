import { expect, it } from "vitest";
import { hours } from "../../lambda/core/duration.ts";
import type { Request } from "../../lambda/core/record.ts";
import { aQuiet, aRecord, aRequest } from "../support/builders.ts";
import fc from "../support/fast-check.ts";
import { at, launchAt, nodesNamed, Passes } from "./plans.ts";

const requests = fc.array(
  fc.record({
    name: fc.constantFrom("a", "b"),
    until: fc.nat({ max: 60 }),
    releasedAt: fc.option(fc.nat({ max: 9 })),
  }),
  { maxLength: 4 },
);
const facts = fc.record({
  launches: fc.array(fc.nat({ max: 120 }), { maxLength: 20 }),
  asked: requests,
  quiet: fc.option(fc.constantFrom("paused", "breather")),
  quietUntil: fc.nat({ max: 30 }),
  awaited: fc.option(fc.nat({ max: 30 })),
  drift: fc.option(fc.nat({ max: 30 })),
});

it("the same facts change nothing a second time: no record, no one-shot, no message", () => {
  fc.assert(
    fc.property(facts, fc.nat({ max: 30 }), (known, minute) => {
      const { asked, quiet, quietUntil, awaited, drift } = known;
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
      const launches = known.launches.map((launchedAt) => launchAt(launchedAt));
      const passes = new Passes({ maxHold: hours(1) }, record);
      const first = passes.at(minute, launches, { nodes });
      const second = passes.at(minute, launches, { nodes });
      expect(second).toMatchObject({ isChanged: false, record: first.record, steps: [] });
      expect([second.oneShot, second.message, second.past]).toEqual([undefined, undefined, undefined]);
      expect(second.until).toEqual(first.until);
    }),
  );
});
