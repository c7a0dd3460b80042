import { expect, it } from "vitest";
import { nothingChanged } from "../../lambda/core/plan-nodes.ts";
import type { Changed, Nodes } from "../../lambda/core/ports.ts";
import { readSettings } from "../../lambda/settings.ts";
import { PrometheusMetrics } from "../../local/metrics/prometheus.ts";
import { RunHealth } from "../../local/run/run-health.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const clock = { now: () => noon };
const context = { deadline: noon, log: { info: () => {}, warn: () => {}, error: () => {} } };

it.each<[string, Partial<Changed>, boolean]>([
  ["every patch failed", { failed: 2 }, false],
  ["patches hang until the time is over", { left: true }, false],
  ["one of several nodes failed", { marked: 1, failed: 1 }, true],
  ["the time was enough for some nodes", { released: 1, left: true }, true],
  ["there was nothing to change", {}, true],
])("where %s, a run knows whether it can patch", async (_, changed, canPatch) => {
  const health = new RunHealth({
    settings: readSettings({ cluster: "prod" }),
    ...{ clock, metrics: new PrometheusMetrics("prod") },
    records: () => [],
    isSaved: () => true,
    isConnected: () => true,
  });
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
