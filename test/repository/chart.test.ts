import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { MetricName } from "../../lambda/core/metrics.ts";
import { families, PrometheusMetrics } from "../../local/metrics/prometheus.ts";
import { chartFiles, chartFolder } from "../../scripts/chart.ts";

it("the chart has the computed files as npm run build:chart writes them", () => {
  for (const [file, computed] of Object.entries(chartFiles()))
    expect(readFileSync(join(chartFolder, file), "utf8"), file).toBe(computed);
});

it("the chart's dashboard and alerts query metrics that run serves, and no other", () => {
  const metrics = new PrometheusMetrics("prod");
  for (const name of Object.keys(families)) metrics.add(name as MetricName, 1);
  const served = new Set(metrics.text().match(/^karpenter\w+/gm));
  const { "dashboard.json": dashboard, "alerts.yaml": alerts } = chartFiles();
  const queried = `${dashboard}${alerts}`.match(/karpenter_node_holder_\w+/g) ?? [];
  expect(queried.length).toBeGreaterThan(20);
  expect(queried.filter((name) => !served.has(name))).toEqual([]);
});
