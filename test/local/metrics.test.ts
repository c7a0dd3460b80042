import { readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import type { MetricName } from "../../lambda/core/metrics.ts";
import { families, PrometheusMetrics, prometheusName, serveMetrics } from "../../local/metrics/prometheus.ts";

const namesOf = (type: string) =>
  (Object.keys(families) as MetricName[]).filter((name) => families[name].type === type);
const serve = (about: Partial<Parameters<typeof serveMetrics>[0]> = {}) =>
  serveMetrics({
    metrics: new PrometheusMetrics("prod"),
    ...{ health: { isLive: true, problems: [] }, port: 0 },
    ...about,
  });

describe("metrics for Prometheus", () => {
  it("sum counters, keep the last value of a gauge, and have sum and number of durations in seconds", () => {
    const metrics = new PrometheusMetrics("prod");
    for (const value of [2, 3]) {
      metrics.add("NodesReleased", value);
      metrics.add("OldestHoldMs", value);
      metrics.add("ReleaseLagMs", value * 1_000);
    }
    const text = metrics.text();
    expect(text).toMatch(
      /^# HELP karpenter_node_holder_nodes_released_total .+\n# TYPE \S+ counter\nkarpenter_node_holder_nodes_released_total\{cluster="prod"\} 5\n/m,
    );
    expect(text).toMatch(
      /^# TYPE karpenter_node_holder_oldest_hold_seconds gauge\n\S+_seconds\{cluster="prod"\} 0\.003\n/m,
    );
    expect(text).toMatch(
      /^# TYPE karpenter_node_holder_release_lag_seconds summary\n\S+_seconds_sum\{cluster="prod"\} 5\n\S+_seconds_count\{cluster="prod"\} 2\n/m,
    );
  });

  it("begin with 0, except gauges, which have no value yet", () => {
    const lines = new PrometheusMetrics("prod").text().trimEnd().split("\n");
    const values = lines.filter((line) => !line.startsWith("#"));
    expect(values.every((line) => line.endsWith(" 0"))).toBe(true);
    expect(values).toHaveLength(namesOf("counter").length + 2 * namesOf("summary").length);
  });

  it("escape the name of the cluster, and follow the text format line by line", () => {
    const metrics = new PrometheusMetrics('a"b\\c\nd');
    for (const name of Object.keys(families) as MetricName[]) metrics.add(name, 1);
    expect(metrics.text()).toContain('{cluster="a\\"b\\\\c\\nd"} 1\n');
    for (const line of metrics.text().trimEnd().split("\n"))
      expect(line).toMatch(
        /^(# HELP [a-z_]+ [^\\]+|# TYPE [a-z_]+ (counter|gauge|summary)|[a-z_]+\{cluster="[^\n]+"\} [\d.]+)$/,
      );
  });

  it("are all named in the documents, by their type", () => {
    const page = readFileSync("docs/without-aws.md", "utf8");
    for (const type of ["counter", "gauge", "summary"]) {
      const [, line = ""] = new RegExp(`^- \\*\\*${type}\\*\\*(.*)$`, "m").exec(page) ?? [];
      const named = [...line.matchAll(/`(\w+)`/g)].map(([, name]) => name);
      const expected = namesOf(type).map((name) =>
        prometheusName(name).replace("karpenter_node_holder_", ""),
      );
      expect(named.toSorted()).toEqual(expected.toSorted());
    }
  });
});

describe("the server of metrics", () => {
  it("serves them at one address, by GET alone", async (test) => {
    const server = await serve();
    test.onTestFinished(() => server.stop());
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
    const response = await fetch(server.url);
    expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(await response.text()).toBe(new PrometheusMetrics("prod").text());
    const said = async (path: string, method = "GET") => {
      const refused = await fetch(server.url.replace("/metrics", path), { method });
      return [refused.status, refused.headers.get("allow"), await refused.text()];
    };
    expect(await said("/metrics", "POST")).toEqual([405, "GET", ""]);
    for (const path of ["/", "//"])
      expect(await said(path)).toEqual([404, null, expect.stringContaining("Not found.")]);
  });

  it.each([
    [true, [], [200, 200]],
    [true, ["the last sweep failed", "nodes cannot be patched"], [200, 503]],
    [false, ["the last sweep failed"], [503, 503]],
  ])("answers for a holder that is live: %s, with the problems %j", async (isLive, problems, expected) => {
    const server = await serve({ health: { isLive, problems } });
    onTestFinished(() => server.stop());
    const paths = ["/healthz", "/readyz"];
    const answers = await Promise.all(paths.map((path) => fetch(server.url.replace("/metrics", path))));
    expect(answers.map(({ status }) => status)).toEqual(expected);
    expect((await answers[1]?.text())?.trim()).toBe(problems.join("\n"));
  });

  it("listens on another address only if one is given", async (test) => {
    const server = await serve({ host: "0.0.0.0" });
    test.onTestFinished(() => server.stop());
    expect(server.url).toMatch(/^http:\/\/0\.0\.0\.0:/);
  });
});
