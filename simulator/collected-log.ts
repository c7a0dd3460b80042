import type { MetricName } from "../lambda/core/metrics.ts";
import type { Fields, Log, Metrics } from "../lambda/core/ports.ts";

export type LogLine = Readonly<{ level: "info" | "warn" | "error"; sentence: string; fields: Fields }>;

/** Records log lines for tests. */
export class CollectedLog implements Log {
  readonly lines: LogLine[] = [];

  info(sentence: string, fields: Fields = {}): void {
    this.lines.push({ level: "info", sentence, fields });
  }

  warn(sentence: string, fields: Fields = {}): void {
    this.lines.push({ level: "warn", sentence, fields });
  }

  error(sentence: string, fields: Fields = {}): void {
    this.lines.push({ level: "error", sentence, fields });
  }

  /** The fields of every line with this message. */
  reported(sentence: string): readonly Fields[] {
    return this.lines.filter((line) => line.sentence === sentence).map(({ fields }) => fields);
  }
}

/** Records metrics for tests. */
export class CollectedMetrics implements Metrics {
  readonly values: Readonly<{ name: MetricName; value: number }>[] = [];

  add(name: MetricName, value: number): void {
    this.values.push({ name, value });
  }

  /** Every value of this metric, oldest first. */
  all(name: MetricName): readonly number[] {
    return this.values.filter((one) => one.name === name).map(({ value }) => value);
  }

  /** The sum of all values of this metric. */
  total(name: MetricName): number {
    return this.all(name).reduce((sum, value) => sum + value, 0);
  }
}
