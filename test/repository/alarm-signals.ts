import type { Template } from "aws-cdk-lib/assertions";
import { resourcesOf, synthesize } from "../infra/synthesized.ts";

/** One value of a metric, as CloudWatch receives it. */
export type Datum = Readonly<{
  namespace: string;
  name: string;
  dimensions: Readonly<Record<string, string>>;
  value: number;
  at: Date;
}>;

type Watched = Readonly<{
  heading: string;
  namespace: string;
  name: string;
  dimensions: Readonly<Record<string, string>>;
  statistic: string;
  periodMs: number;
  isBad: (value: number) => boolean;
}>;

/**
 * The alarms of the stack, read from its template, and which of them a reported value sets off: a count adds up over time,
 * and a measured value must be bad for one period.
 * Missing data is ignored, because a test may let time pass without a sweep.
 */
export class AlarmSignals {
  readonly #watched: readonly Watched[];

  constructor(template: Template = synthesize()) {
    this.#watched = [...resourcesOf(template, "AWS::CloudWatch::Alarm").values()].map(({ Properties }) =>
      read(Properties, template),
    );
  }

  /** What the alarms are called in the runbook. */
  get headings(): readonly string[] {
    return [...new Set(this.#watched.map(({ heading }) => heading))];
  }

  /** The headings of all alarms for which these values are bad. */
  of(data: readonly Datum[]): readonly string[] {
    const bad = this.#watched.filter((alarm) => periodsOf(alarm, data).some(alarm.isBad));
    return [...new Set(bad.map(({ heading }) => heading))].toSorted();
  }
}

function read(properties: Readonly<Record<string, unknown>>, template: Template): Watched {
  const { Namespace, MetricName, Statistic, ExtendedStatistic, Period, Threshold, ComparisonOperator } =
    properties;
  const [, heading = ""] = /#([a-z-]+)$/.exec(String(properties.AlarmDescription)) ?? [];
  const threshold = Statistic === "Sum" ? 0 : Number(Threshold);
  const comparisons: Readonly<Record<string, (value: number) => boolean>> = {
    GreaterThanThreshold: (value) => value > threshold,
    LessThanThreshold: (value) => value < threshold,
  };
  const isBad = comparisons[String(ComparisonOperator)];
  if (!isBad) throw new Error(`${heading} compares in a way that is not known here: ${ComparisonOperator}`);
  const pairs: readonly { Name: string; Value: unknown }[] = Array.isArray(properties.Dimensions)
    ? properties.Dimensions
    : [];
  return {
    heading,
    namespace: String(Namespace),
    name: String(MetricName),
    dimensions: Object.fromEntries(pairs.map(({ Name, Value }) => [Name, dimensionOf(Value, template)])),
    statistic: String(Statistic ?? ExtendedStatistic),
    periodMs: Number(Period) * 1000,
    isBad,
  };
}

/** A function is known by the name it is given; a queue, which has none, by its logical id. */
function dimensionOf(value: unknown, template: Template): string {
  if (typeof value === "string") return value;
  const { Ref, "Fn::GetAtt": got } = Object(value);
  const id = String(Ref ?? got?.[0]);
  const name = resourcesOf(template, "AWS::Lambda::Function").get(id)?.Properties.FunctionName;
  return typeof name === "string" ? name : id.replace(/^Holder|[0-9A-F]{8}$/g, "");
}

function periodsOf({ namespace, name, dimensions, statistic, periodMs }: Watched, data: readonly Datum[]) {
  const watched = data.filter(
    (datum) =>
      datum.namespace === namespace &&
      datum.name === name &&
      JSON.stringify(datum.dimensions) === JSON.stringify(dimensions),
  );
  const periods = Map.groupBy(watched, ({ at }) => Math.floor(at.getTime() / periodMs));
  return [...periods.values()].map((period) =>
    statisticOf(
      statistic,
      period.map(({ value }) => value),
    ),
  );
}

function statisticOf(statistic: string, values: readonly number[]): number {
  if (statistic === "SampleCount") return values.length;
  if (statistic === "Sum") return values.reduce((sum, value) => sum + value, 0);
  if (statistic === "Maximum") return Math.max(...values);
  const [, percent] = /^p(\d+)$/.exec(statistic) ?? [];
  if (percent === undefined) throw new Error(`no alarm was known to look at ${statistic}`);
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil((Number(percent) / 100) * sorted.length) - 1] ?? 0;
}
