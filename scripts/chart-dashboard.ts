import { families, prometheusName } from "../local/metrics/prometheus.ts";

type MetricName = keyof typeof families;
type Panel = Readonly<{
  title: string;
  metrics: readonly MetricName[];
  unit?: "s";
  /** The last value alone, in large digits. */
  asNumber?: true;
}>;

const panels: readonly Panel[] = [
  { title: "Nodes held", metrics: ["NodesHeldNow"], asNumber: true },
  { title: "Holds", metrics: ["HoldActive"], asNumber: true },
  { title: "Oldest hold", metrics: ["OldestHoldMs"], unit: "s", asNumber: true },
  { title: "Nodes held over time", metrics: ["NodesHeldNow", "HoldActive"] },
  {
    title: "Launches",
    metrics: ["LaunchesSeen", "LaunchesIgnored", "MissedLaunches"],
  },
  { title: "Holds begun and extended", metrics: ["HoldsStarted", "HoldsExtended", "HoldsCapped"] },
  { title: "Nodes marked and released", metrics: ["NodesHeld", "NodesReleased"] },
  { title: "Nodes that no longer pay", metrics: ["NodesLetGo", "NodesSpared", "EvictionsSpared"] },
  { title: "Superfluous time", metrics: ["SuperfluousMs"], unit: "s" },
  { title: "Delays", metrics: ["LaunchToProtectedMs", "ReleaseLagMs"], unit: "s" },
  {
    title: "Problems",
    metrics: [
      ...(["SweepsFailed", "RecordWriteFailures", "NodePatchFailures", "ApiThrottled"] as const),
      ...(["RightsMissing", "OrphansFound", "UnreadableRecords"] as const),
    ],
  },
  { title: "Overdue releases, and pauses", metrics: ["OverdueSeconds", "PausedSeconds"], unit: "s" },
];

const datasource = { type: "prometheus", uid: "$datasource" };

/** A Grafana dashboard of the metrics that `run` serves to Prometheus. */
export function chartDashboard() {
  return {
    uid: "karpenter-node-holder",
    title: "Karpenter Node Holder",
    schemaVersion: 39,
    editable: true,
    refresh: "1m",
    time: { from: "now-24h", to: "now" },
    templating: {
      list: [
        { name: "datasource", type: "datasource", query: "prometheus" },
        {
          name: "cluster",
          type: "query",
          datasource,
          query: `label_values(${prometheusName("LaunchesSeen")}, cluster)`,
          refresh: 2,
          multi: true,
          includeAll: true,
          current: { text: "All", value: "$__all" },
        },
      ],
    },
    panels: panels.map(panelOf),
  };
}

const numbers = panels.filter(({ asNumber }) => asNumber).length;

/** The numbers in the first row, then two graphs a row. */
function panelOf({ title, metrics, unit, asNumber }: Panel, index: number) {
  const graph = index - numbers;
  const width = 24 / numbers;
  const gridPos = asNumber
    ? { x: index * width, y: 0, w: width, h: 4 }
    : { x: (graph % 2) * 12, y: 4 + Math.floor(graph / 2) * 8, w: 12, h: 8 };
  return {
    id: index + 1,
    title,
    type: asNumber ? "stat" : "timeseries",
    datasource,
    gridPos,
    fieldConfig: { defaults: { unit: unit ?? "short", min: 0 }, overrides: [] },
    targets: metrics.map((metric, at) => ({
      refId: String.fromCharCode(65 + at),
      datasource,
      expr: queryOf(metric),
      legendFormat: `${wordsOf(metric)} {{cluster}}`,
    })),
  };
}

/** A counter as its increase, a gauge as it is, a summary as its average. */
function queryOf(metric: MetricName): string {
  const name = prometheusName(metric);
  const increase = (series: string) =>
    `sum by (cluster) (increase(${series}{cluster=~"$cluster"}[$__rate_interval]))`;
  switch (families[metric].type) {
    case "counter":
      return increase(name);
    case "gauge":
      return `max by (cluster) (${name}{cluster=~"$cluster"})`;
    case "summary":
      return `${increase(`${name}_sum`)} / ${increase(`${name}_count`)}`;
  }
}

const wordsOf = (metric: MetricName) =>
  metric.replace(/Ms$/, "").replaceAll(/(?<!^)[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
