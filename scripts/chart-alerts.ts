import { type families, prometheusName } from "../local/metrics/prometheus.ts";

type Metric = keyof typeof families;
type Alert = Readonly<{
  name: string;
  /** `metric` stands for the metric's name. */
  when: (metric: string) => string;
  metric: Metric;
  lasts: string;
  severity: "critical" | "warning";
  summary: string;
  remedy: string;
}>;

const increases = (metric: string) => `increase(${metric}[15m]) > 0`;
const reads = "Read the log of the holder; /readyz says what does not work.";

const alerts: readonly Alert[] = [
  {
    ...{ name: "ReleaseOverdue", metric: "OverdueSeconds", when: (metric) => `${metric} > 600`, lasts: "0m" },
    ...{ severity: "critical", summary: "Nodes should have been released ten minutes ago." },
    remedy: "If the holder cannot release them: release --force --kubeconfig FILE.",
  },
  {
    ...{ name: "NotScraped", metric: "WatchConnected", when: (metric) => `absent(${metric})`, lasts: "15m" },
    ...{ severity: "critical", summary: "No holder is at work, so nothing is held, and nothing released." },
    remedy: "Start it again. To release without it: release --force --kubeconfig FILE.",
  },
  {
    ...{ name: "WatchBroken", metric: "WatchConnected", when: (metric) => `${metric} == 0`, lasts: "10m" },
    ...{ severity: "warning", summary: "Changes of nodes do not arrive: launches are held late." },
    remedy: reads,
  },
  {
    // A sweep is due every hour at least.
    ...{ name: "NoSweep", metric: "LastPassTimestampSeconds", when: (metric) => `time() - ${metric} > 7500` },
    ...{ lasts: "0m", severity: "critical", summary: "No sweep has succeeded for two hours." },
    remedy: reads,
  },
  {
    ...{ name: "SweepsFail", metric: "SweepsFailed", when: increases, lasts: "15m" },
    ...{ severity: "warning", summary: "Sweeps keep failing." },
    remedy: reads,
  },
  {
    ...{ name: "RecordNotWritten", metric: "RecordWriteFailures", when: increases, lasts: "5m" },
    ...{ severity: "warning", summary: "The record is kept in memory alone, and lost if the holder ends." },
    remedy: "Make room on its volume.",
  },
  {
    ...{ name: "NodesNotPatched", metric: "NodePatchFailures", when: increases, lasts: "15m" },
    ...{ severity: "warning", summary: "Nodes cannot be marked or released." },
    remedy: `${reads} Check the rights, and other admission policies.`,
  },
  {
    ...{ name: "RightsMissing", metric: "RightsMissing", when: increases, lasts: "15m" },
    ...{ severity: "warning", summary: "The cluster has not given the holder all of its rights." },
    remedy: "Apply what `manifest --holder run` prints, or upgrade the chart.",
  },
];

/** The alerts on the metrics of `run`, as a file of Prometheus's rules. */
export const chartAlerts = () => ({
  groups: [
    {
      name: "karpenter-node-holder",
      rules: alerts.map(({ name, metric, when, lasts, severity, summary, remedy }) => ({
        alert: `KarpenterNodeHolder${name}`,
        expr: when(prometheusName(metric)),
        for: lasts,
        labels: { severity },
        annotations: { summary, description: remedy },
      })),
    },
  ],
});
