import { Logger } from "@aws-lambda-powertools/logger";
import { Metrics as EmbeddedMetrics } from "@aws-lambda-powertools/metrics";
import type { Duration } from "../core/duration.ts";
import { Metric, type MetricName, metricNamespace, watchedMetrics } from "../core/metrics.ts";
import type { Log, Metrics } from "../core/ports.ts";
import { systemClock } from "../system-clock.ts";
import { version } from "../version.ts";
import { CallTimes } from "./call-times.ts";

/** The log of an invocation in JSON lines, and its metrics as one more line at its end. */
export class Telemetry {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly calls = new CallTimes(systemClock);
  /** What is sent at the end of each invocation. */
  events: Readonly<{ send(within: Duration): Promise<void> }> | undefined;
  readonly #logger: Logger;
  readonly #embedded: EmbeddedMetrics;
  readonly #monitoring: string;
  #processor = process.cpuUsage();

  /** `monitoring` is the setting of that name. */
  constructor(cluster: string, monitoring = "full") {
    this.#monitoring = monitoring;
    this.#logger = new Logger({ serviceName: "karpenter-node-holder", persistentKeys: { cluster, version } });
    this.#embedded = new EmbeddedMetrics({
      namespace: metricNamespace,
      serviceName: "karpenter-node-holder",
    });
    const logger = this.#logger;
    this.log = {
      info: (sentence, fields = {}) => logger.info(sentence, { ...fields }),
      warn: (sentence, fields = {}) => logger.warn(sentence, { ...fields }),
      error: (sentence, fields = {}) => logger.error(sentence, { ...fields }),
    };
    this.metrics = { add: (name, value) => this.#add(name, value) };
    this.#embedded.clearDefaultDimensions();
    this.#embedded.setDefaultDimensions({ Cluster: cluster });
  }

  /** Every line of this invocation carries its id. */
  begin(requestId: string): void {
    this.#logger.appendKeys({ requestId });
    this.calls.begin();
    this.#processor = process.cpuUsage();
  }

  /** Sends events, then reports the calls and the metrics; also after a failure. */
  async end(left: Duration): Promise<void> {
    await this.events?.send(left);
    const { began, calls } = this.calls.reported();
    const { user, system } = process.cpuUsage(this.#processor);
    const cpuMs = Math.round((user + system) / 1000);
    if (Object.keys(calls).length > 0) this.log.info("calls made", { began, cpuMs, calls });
    if (this.#embedded.hasStoredMetrics()) this.#embedded.publishStoredMetrics();
  }

  #add(name: MetricName, value: number): void {
    const isWanted = this.#monitoring === "alarms" ? watchedMetrics.has(name) : this.#monitoring !== "none";
    if (isWanted) this.#embedded.addMetric(name, Metric[name], value);
  }
}
