import type { Duration } from "aws-cdk-lib";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { type MetricName, metricNamespace } from "../../lambda/core/metrics.ts";

/** The holder's own metrics of one cluster, as the functions emit them. */
export class HolderMetrics {
  private readonly cluster: string;
  private readonly period: Duration;

  constructor(cluster: string, period: Duration) {
    this.cluster = cluster;
    this.period = period;
  }

  metric(metricName: MetricName, statistic: string, label?: string): Metric {
    return new Metric({
      namespace: metricNamespace,
      metricName,
      dimensionsMap: { Cluster: this.cluster },
      statistic,
      period: this.period,
      ...(label && { label }),
    });
  }
}
