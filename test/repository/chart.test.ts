import { readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { expect, it } from "vitest";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import type { MetricName } from "../../lambda/core/metrics.ts";
import { usualPause } from "../../lambda/core/quiet.ts";
import { holderSettings } from "../../lambda/settings-table.ts";
import { families, PrometheusMetrics } from "../../local/metrics/prometheus.ts";
import { chartFiles, chartFolder } from "../../scripts/chart.ts";

it("the chart has the computed files as npm run build:chart writes them", () => {
  for (const [file, computed] of Object.entries(chartFiles()))
    expect(readFileSync(join(chartFolder, file), "utf8"), file).toBe(computed);
});

it("a listing shows the chart's icon, its image, and the changes of its version", () => {
  const changelog = readFileSync("CHANGELOG.md", "utf8");
  const { version, icon, annotations } = Object(load(chartFiles(changelog)["Chart.yaml"] ?? ""));
  expect(icon.endsWith("/docs/images/icon.svg")).toBe(true);
  expect(readFileSync("docs/images/icon.svg", "utf8")).toMatch(/^<svg /);
  expect(load(annotations["artifacthub.io/images"])).toEqual([
    { name: "karpenter-node-holder", image: `ghcr.io/owner/karpenter-node-holder:${version}` },
  ]);
  const changes = Object(load(annotations["artifacthub.io/changes"]));
  const [entry = ""] = changelog.match(new RegExp(`^## ${version} [^]+?(?=^## |$(?![^]))`, "m")) ?? [];
  expect(changes.length).toBe(entry.match(/^- /gm)?.length);
  for (const { kind, description } of changes)
    expect([kind, description]).toEqual(["added", expect.stringMatching(/^[^`]+$/)]);
});

it("the chart's dashboard and alerts query metrics that run serves, and no other", () => {
  const metrics = new PrometheusMetrics("prod");
  for (const name of Object.keys(families)) metrics.add(name as MetricName, 1);
  const served = new Set(metrics.text().match(/^karpenter\w+/gm));
  const files = ["dashboard.json", "alerts.yaml"].map((file) =>
    readFileSync(join(chartFolder, file), "utf8"),
  );
  const queried = files.join("").match(/karpenter_node_holder_\w+/g) ?? [];
  expect(queried.length).toBeGreaterThan(20);
  expect(queried.filter((name) => !served.has(name))).toEqual([]);
});

it("an alert on what only sweeps show looks back longer than the longest sweepEvery, twice where two must fail", () => {
  const text = readFileSync(join(chartFolder, "alerts.yaml"), "utf8");
  const longestOf = (metric: string) =>
    Math.max(
      ...[...text.matchAll(new RegExp(`${metric}_total\\[(\\d+)m\\]`, "g"))].map(([, m]) => Number(m)),
    );
  const longest = holderSettings.sweepEvery.value.most / minutes(1);
  expect(longestOf("rights_missing")).toBeGreaterThan(longest);
  expect(longestOf("sweeps_failed")).toBeGreaterThan(2 * longest);
});

/** The alerts whose expression has this text. */
function alertsOn(text: string) {
  const { groups } = load(readFileSync(join(chartFolder, "alerts.yaml"), "utf8")) as {
    groups: { rules: { expr: string; labels: { severity: string } }[] }[];
  };
  return groups.flatMap(({ rules }) => rules).filter(({ expr }) => expr.includes(text));
}

it("an alert says that holds end at their cap on three of seven days, in whichever Pod", () => {
  const ofCap = alertsOn("holds_capped_total");
  expect(ofCap).toMatchObject([{ labels: { severity: "warning" } }]);
  expect(ofCap[0]?.expr).toMatch(
    /^count_over_time\(\(sum by \(cluster\) \(increase\(\w+\[1d\]\)\) > 0\)\[7d:1d\]\) >= 3$/,
  );
});

it("an alert on what is absent also fires where only one of several clusters has none", () => {
  const absent = alertsOn("absent(");
  for (const { expr } of absent)
    expect(expr).toMatch(/^absent\((.+)\) or \(max by \(cluster\) \(\1\) unless on \(cluster\) \w+\)$/);
  expect(absent).toHaveLength(1);
});

it("an alert says that a pause lasts longer than one without a length of its own", () => {
  const longest = alertsOn("paused_seconds").map(({ expr }) =>
    Number(/_paused_seconds > (\d+)$/.exec(expr)?.[1]),
  );
  expect(longest).toHaveLength(1);
  for (const length of longest) expect(seconds(length)).toBeGreaterThan(usualPause);
});
