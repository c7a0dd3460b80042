import type { Duration } from "aws-cdk-lib";
import { Metric } from "aws-cdk-lib/aws-cloudwatch";
import { type MetricName, metricNamespace } from "../../lambda/core/metrics.ts";

/** The holder's own metrics of one cluster, as the functions emit them. */
export const metricsOf =
  (cluster: string, period: Duration) =>
  (metricName: MetricName, statistic: string, label?: string): Metric =>
    new Metric({
      namespace: metricNamespace,
      metricName,
      dimensionsMap: { Cluster: cluster },
      statistic,
      period,
      ...(label && { label }),
    });

export type MetricOf = ReturnType<typeof metricsOf>;
