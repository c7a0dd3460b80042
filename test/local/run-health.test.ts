import { expect, it } from "vitest";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { nothingChanged } from "../../lambda/core/plan-nodes.ts";
import type { Changed, Nodes } from "../../lambda/core/ports.ts";
import { emptyRecord, type ScopeRecord } from "../../lambda/core/record.ts";
import { readSettings } from "../../lambda/settings.ts";
import { PrometheusMetrics } from "../../local/metrics/prometheus.ts";
import { RunHealth } from "../../local/run/run-health.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const healthAt = (
  now: () => Date,
  metrics = new PrometheusMetrics("prod"),
  records: readonly ScopeRecord[] = [],
) =>
  new RunHealth({
    settings: readSettings({ cluster: "prod" }),
    ...{ clock: { now }, metrics },
    records: () => records,
    isSaved: () => true,
    isConnected: () => true,
  });
const context = { deadline: noon, log: { info: () => {}, warn: () => {}, error: () => {} } };

it.each<[string, Partial<Changed>, boolean]>([
  ["every patch failed", { failed: 2 }, false],
  ["patches hang until the time is over", { left: true }, false],
  ["one of several nodes failed", { marked: 1, failed: 1 }, true],
  ["the time was enough for some nodes", { released: 1, left: true }, true],
  ["there was nothing to change", {}, true],
])("where %s, a run knows whether it can patch", async (_, changed, canPatch) => {
  const health = healthAt(() => noon);
  let answer = { ...nothingChanged, ...changed };
  const change = async () => answer;
  const nodes = health.watching({ change } as Partial<Nodes> as Nodes);
  await nodes.change([], context);
  expect(health.problems).toEqual(canPatch ? [] : ["nodes cannot be patched"]);
  // The node may be gone since.
  answer = nothingChanged;
  await nodes.change([], context);
  expect(health.problems).toEqual([]);
});

it("a run is not ready when two sweeps have not come, and a minute is over", () => {
  let now = noon;
  const health = healthAt(() => now);
  health.onSweep(undefined);
  now = after(noon, minutes(11));
  expect(health.problems).toEqual([]);
  now = after(now, 1);
  expect(health.problems).toEqual(["the last sweep was long ago"]);
});

it("shows the age of the last sweep from the beginning on, so that an alert sees that none ever succeeds", () => {
  let now = noon;
  const metrics = new PrometheusMetrics("prod");
  const health = healthAt(() => now, metrics);
  health.measure();
  now = after(noon, hours(3));
  health.onSweep(new Error("refused"));
  health.measure();
  expect(metrics.text()).toContain(`last_pass_timestamp_seconds{cluster="prod"} ${noon.getTime() / 1_000}\n`);
  health.onSweep(undefined);
  health.measure();
  expect(metrics.text()).toContain(`last_pass_timestamp_seconds{cluster="prod"} ${now.getTime() / 1_000}\n`);
});

it("shows the age of the oldest pause, until it is over", () => {
  let now = after(noon, hours(26));
  const metrics = new PrometheusMetrics("prod");
  const pausedFor = (until: Date, since: Date, kind: "paused" | "breather" = "paused") => ({
    ...emptyRecord("nodepool/batch"),
    quiet: { kind, since, until, because: "a test" },
  });
  const records = [
    pausedFor(after(noon, hours(48)), noon),
    pausedFor(after(noon, hours(72)), after(noon, hours(20))),
    pausedFor(after(noon, hours(48)), after(noon, -hours(1)), "breather"),
    pausedFor(after(noon, hours(24)), after(noon, -hours(9))),
  ];
  const health = healthAt(() => now, metrics, records);
  health.measure();
  expect(metrics.text()).toContain(`paused_seconds{cluster="prod"} ${26 * 3_600}\n`);
  now = after(noon, hours(72));
  health.measure();
  expect(metrics.text()).toContain('paused_seconds{cluster="prod"} 0\n');
});
