/** Every metric we emit, with its CloudWatch unit; infra's alarms and dashboard name the same ones. */
export const Metric = {
  LaunchesSeen: "Count",
  LaunchesIgnored: "Count",
  HoldsStarted: "Count",
  HoldsExtended: "Count",
  HoldsCapped: "Count",
  NodesHeld: "Count",
  NodesReleased: "Count",
  NodesLetGo: "Count",
  NodesSpared: "Count",
  EvictionsSpared: "Count",
  SuperfluousMs: "Milliseconds",
  NodePatchFailures: "Count",
  ApiThrottled: "Count",
  RightsMissing: "Count",
  LaunchToProtectedMs: "Milliseconds",
  ReleaseLagMs: "Milliseconds",
  OrphansFound: "Count",
  UnreadableRecords: "Count",
  MissedLaunches: "Count",
  OldestHoldMs: "Milliseconds",
  HoldActive: "Count",
  NodesHeldNow: "Count",
  EventsFailed: "Count",
} as const;

export type MetricName = keyof typeof Metric;

/** The metrics that alarms watch. */
export const watchedMetrics: ReadonlySet<MetricName> = new Set([
  "ReleaseLagMs",
  "OrphansFound",
  "NodePatchFailures",
  "RightsMissing",
  "HoldActive",
  "LaunchToProtectedMs",
  "OldestHoldMs",
]);
export const metricNamespace = "KarpenterNodeHolder";
