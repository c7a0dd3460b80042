import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { minutes } from "../../lambda/core/duration.ts";
import { assumed, costPage, countsOf, quiet } from "../../scripts/cost-page.ts";
import { measuredDay } from "./measured-day.ts";
import { resourcesOf, synthesize } from "./synthesized.ts";

const template = synthesize();
const propertiesOf = (type: string) =>
  [...resourcesOf(template, type).values()].map(({ Properties }) => Properties);

it("shows the figures that the script works out", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/cost.md"), "utf8");
  expect(page).toBe(costPage());
});

it.each([quiet, { title: "Four bursts", launches: 80, elsewhere: 80, holds: 4, nodes: 3 }])(
  "assumes no less than a day of the real handlers takes: $title",
  { timeout: 60_000 },
  async (day) => {
    // So late that no function reads it any more.
    const joinsAfter = minutes(11);
    const measured = await measuredDay({ ...day, joinsAfter });
    for (const [what, count] of Object.entries(countsOf(day)))
      expect(count, what).toBeGreaterThanOrEqual(Reflect.get(measured, what));
  },
);

it("assumes no less log than an invocation writes, and not much more", async () => {
  const { logBytes, invocations } = await measuredDay({ ...quiet, joinsAfter: minutes(2) });
  const kilobytes = logBytes / invocations / 1_000;
  expect(kilobytes).toBeLessThan(assumed.kilobytesAnInvocation);
  expect(kilobytes).toBeGreaterThan(0.75 * assumed.kilobytesAnInvocation);
});

it("assumes no fewer one-shots than a hold takes that lasts until its cap", async () => {
  const dense = { launches: 24, elsewhere: 0, holds: 1, nodes: 3, joinsAfter: minutes(1) };
  const { oneShots } = await measuredDay(dense);
  expect(assumed.oneShotsAHold).toBeGreaterThanOrEqual(oneShots);
  expect(oneShots).toBeGreaterThan(5);
});

it("counts every metric that an alarm of the stack watches", () => {
  expect(propertiesOf("AWS::CloudWatch::Alarm")).toHaveLength(assumed.metricsInAlarms);
  // One of several metrics, or of an expression, would cost more than one.
  for (const alarm of propertiesOf("AWS::CloudWatch::Alarm")) expect(alarm).toHaveProperty("MetricName");
});

it("knows the functions' memory", () => {
  const sizes = propertiesOf("AWS::Lambda::Function").flatMap(({ MemorySize }) => MemorySize ?? []);
  expect(new Set(sizes)).toEqual(new Set([assumed.gigabytes * 1024]));
});
