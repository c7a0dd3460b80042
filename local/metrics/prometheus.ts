import type { ServerResponse } from "node:http";
import { Metric, type MetricName } from "../../lambda/core/metrics.ts";
import type { Metrics } from "../../lambda/core/ports.ts";
import { type HttpServer, refuse, requestUrl, serveHttp } from "../http-server.ts";

/** A counter sums values, a gauge keeps the last one, a summary has their sum and their number. */
type Family = Readonly<{ type: "counter" | "gauge" | "summary"; help: string }>;

const counter = (help: string): Family => ({ type: "counter", help });
const gauge = (help: string): Family => ({ type: "gauge", help });
const summary = (help: string): Family => ({ type: "summary", help });

/** Metrics that only a `run` has. */
export type RunMetricName =
  | "SweepsFailed"
  | "RecordWriteFailures"
  | "LastPassTimestampSeconds"
  | "WatchConnected"
  | "OverdueSeconds"
  | "PausedSeconds";
type Name = MetricName | RunMetricName;

export const families: Readonly<Record<Name, Family>> = {
  LaunchesSeen: counter("Launches of nodes that were seen."),
  LaunchesIgnored: counter("Launches that started and extended no hold."),
  HoldsStarted: counter("Holds started."),
  HoldsExtended: counter("Holds whose end moved later."),
  HoldsCapped: counter("Holds that reached their cap."),
  NodesHeld: counter("Nodes marked."),
  NodesReleased: counter("Nodes released."),
  NodesLetGo: counter("Nodes let go because they no longer paid."),
  NodesSpared: counter("Superfluous nodes that were needed again, so that none had to be launched."),
  EvictionsSpared: counter("Pods on those nodes, which would have been evicted: at most so many."),
  SuperfluousMs: counter("Time in which held nodes were superfluous."),
  NodePatchFailures: counter("Nodes that could not be patched."),
  ApiThrottled: counter("Calls that the Kubernetes API throttled."),
  RightsMissing: counter("Calls that needed a right which the cluster has not given."),
  LaunchToProtectedMs: summary("Time from a launch to the protection of all nodes."),
  ReleaseLagMs: summary("How late nodes were released."),
  OrphansFound: counter("Orphaned marks found."),
  UnreadableRecords: counter("Reads of a record that could not be read."),
  MissedLaunches: counter("Launches that only the sweep found."),
  OldestHoldMs: gauge("Age of the oldest hold at the last sweep."),
  HoldActive: gauge("Holds at the last sweep."),
  NodesHeldNow: gauge("Nodes held at the last sweep."),
  EventsFailed: counter("Events about holds that could not be sent."),
  SweepsFailed: counter("Sweeps that failed."),
  RecordWriteFailures: counter("Writes of the record that failed; it is kept in memory until one succeeds."),
  LastPassTimestampSeconds: gauge("When the last sweep succeeded, or the work began, since 1970."),
  WatchConnected: gauge("Whether changes of nodes arrive: 1 or 0."),
  OverdueSeconds: gauge("How long ago the oldest hold that is still there should have been released."),
  PausedSeconds: gauge("Age of the oldest pause that is still on."),
};

/** A metric's name in Prometheus's style; times are in seconds. */
export function prometheusName(name: Name): string {
  const words = name.replace(/Ms$/, "Seconds").replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return `karpenter_node_holder${words}${families[name].type === "counter" ? "_total" : ""}`;
}

/** Collects metrics since the process started, for Prometheus to read. */
export class PrometheusMetrics implements Metrics {
  readonly #labels: string;
  readonly #values = new Map<Name, Readonly<{ sum: number; count: number; last: number }>>();

  constructor(cluster: string) {
    this.#labels = `{cluster="${escaped(cluster)}"}`;
  }

  add(name: Name, value: number): void {
    const added = name in Metric && Metric[name as MetricName] === "Milliseconds" ? value / 1_000 : value;
    const { sum, count } = this.#values.get(name) ?? { sum: 0, count: 0 };
    this.#values.set(name, { sum: sum + added, count: count + 1, last: added });
  }

  /** Everything in Prometheus's text format. */
  text(): string {
    const names = Object.keys(families) as Name[];
    return `${names.flatMap((name) => this.#linesOf(name)).join("\n")}\n`;
  }

  #linesOf(metric: Name): readonly string[] {
    const { type, help } = families[metric];
    const name = prometheusName(metric);
    const heading = [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
    const values = this.#values.get(metric);
    // A gauge has no value before its first one; the others begin with 0.
    if (type === "gauge") return values ? [...heading, `${name}${this.#labels} ${values.last}`] : [];
    const { sum = 0, count = 0 } = values ?? {};
    if (type === "counter") return [...heading, `${name}${this.#labels} ${sum}`];
    return [...heading, `${name}_sum${this.#labels} ${sum}`, `${name}_count${this.#labels} ${count}`];
  }
}

const escaped = (value: string): string =>
  value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");

/** What a supervisor asks: whether to restart the process, and why it does not hold and release as it should. */
export type Health = Readonly<{ isLive: boolean; problems: readonly string[] }>;

type Served = Readonly<{
  metrics: Pick<PrometheusMetrics, "text">;
  health: Health;
  port: number;
  host?: string | undefined;
}>;

/** Serves metrics to Prometheus at /metrics, health at /healthz and /readyz, and nothing else. */
export async function serveMetrics({ metrics, health, port, host }: Served): Promise<HttpServer> {
  const contentType = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
  const server = await serveHttp(
    (request, response) => {
      const { pathname } = requestUrl(request);
      if (pathname === "/healthz") response.writeHead(health.isLive ? 200 : 503).end();
      else if (pathname === "/readyz") answerReady(response, health.problems);
      else if (pathname !== "/metrics") refuse(response, 404, "Not found.");
      else if (request.method !== "GET") response.writeHead(405, { allow: "GET" }).end();
      else response.writeHead(200, contentType).end(metrics.text());
    },
    { port, host },
  );
  return { ...server, url: `${server.url}/metrics` };
}

function answerReady(response: ServerResponse, problems: readonly string[]): void {
  if (problems.length > 0) refuse(response, 503, problems.join("\n"));
  else response.writeHead(200).end();
}
