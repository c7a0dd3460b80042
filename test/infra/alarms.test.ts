import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { App, Duration, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import type { IAlarmAction } from "aws-cdk-lib/aws-cloudwatch";
import { expect, it } from "vitest";
import { KarpenterNodeHolder } from "../../infra/index.ts";
import { resourcesOf, synthesize, synthesizeEverything } from "./synthesized.ts";

const template = synthesize();
const alarms = [...resourcesOf(template, "AWS::CloudWatch::Alarm").values()].map(
  ({ Properties }) => Properties,
);
const root = join(import.meta.dirname, "../..");
const runbook = readFileSync(join(root, "docs/operating.md"), "utf8");

const alarm = (heading: string, of = template) =>
  [...resourcesOf(of, "AWS::CloudWatch::Alarm").values()]
    .map(({ Properties }) => Properties)
    .find(({ AlarmName }) => AlarmName === `karpenter-node-holder-prod-${heading}`);

it("watches everything that can go wrong", () => {
  const prefix = "karpenter-node-holder-prod-".length;
  expect(alarms.map(({ AlarmName }) => String(AlarmName).slice(prefix)).sort()).toEqual([
    "dead-letters-events",
    "dead-letters-invocations",
    "dead-letters-launches",
    "function-errors-control",
    "function-errors-hold",
    "function-errors-release",
    "function-errors-sweep",
    "hold-over-cap",
    "marks-orphaned",
    "patches-failing",
    "release-overdue",
    "slow-protection",
    "sweep-silent",
  ]);
});

it("says how urgent an alarm is and what to type first, and leads to its entry", () => {
  const described =
    /^\[(page|ticket)\] .+\. First: (npx .+ --cluster prod)\. See docs\/operating\.md#([a-z-]+)$/;
  for (const { AlarmName, AlarmDescription } of alarms) {
    const [, severity, first = "", heading] = described.exec(String(AlarmDescription)) ?? [];
    expect(String(AlarmName)).toMatch(new RegExp(`^karpenter-node-holder-prod-${heading}`));
    const [, section = ""] = runbook.split(`\n### ${heading}\n`);
    const entry = section.split("\n##")[0]?.toLowerCase();
    expect(entry).toContain(
      `**severity.** ${severity}. first command: \`${first.replace("prod", "cluster")}\`.`,
    );
    for (const part of ["description", "investigation", "resolution"])
      expect(entry).toContain(`**${part}.**`);
  }
});

it("links to the runbook's own copy where there is one", () => {
  const own = synthesize({ runbookUrl: "https://wiki.example.com/runbook" });
  expect(alarm("sweep-silent", own)?.AlarmDescription).toMatch(
    / See https:\/\/wiki\.example\.com\/runbook#sweep-silent$/,
  );
});

it("treats missing data as a breach for the sweep only", () => {
  for (const { AlarmName, TreatMissingData } of alarms) {
    const silent = String(AlarmName).endsWith("sweep-silent");
    expect(TreatMissingData).toBe(silent ? "breaching" : "notBreaching");
  }
});

it("looks at periods that contain a sweep even when a timer comes late", () => {
  const every = [
    [{ sweepEvery: Duration.minutes(4) }, 300],
    [{}, 600],
    [{ sweepEvery: Duration.hours(1) }, 3900],
  ] as const;
  for (const [props, Period] of every) {
    const template = synthesize(props);
    for (const heading of ["sweep-silent", "release-overdue", "hold-over-cap", "marks-orphaned"])
      expect(alarm(heading, template)).toMatchObject({ Period });
  }
});

it("calls a function failing when three tries of the same work failed, however far apart they come", () => {
  const hourly = synthesize({ sweepEvery: Duration.hours(1) });
  const [queue] = [...resourcesOf(template, "AWS::SQS::Queue").values()].filter(
    ({ Properties }) => Properties.RedrivePolicy,
  );
  const twoDeliveries = 2 * Number(queue?.Properties.VisibilityTimeout);

  for (const part of ["hold", "release", "control", "sweep"]) {
    const failing = alarm(`function-errors-${part}`);
    expect(failing).toMatchObject({ Statistic: "Sum", Threshold: 2, EvaluationPeriods: 1 });
    // SQS and Lambda take their time, too.
    expect(failing?.Period).toBeGreaterThan(twoDeliveries + 60);
  }
  expect(alarm("function-errors-sweep", hourly)?.Period).toBeGreaterThan(2 * 3600);
  expect(alarm("function-errors-hold", hourly)).toMatchObject({ Period: 1800 });
});

it("needs no more launches to call protection slow than one hold after the other brings", () => {
  expect(alarm("slow-protection")).toMatchObject({
    Period: 3600,
    EvaluationPeriods: 1,
    ExtendedStatistic: "p50",
  });
});

it("reports dead letters in minutes, however seldom it sweeps", () => {
  const hourly = synthesize({ sweepEvery: Duration.hours(1) });
  for (const of of ["launches", "events", "invocations"])
    expect(alarm(`dead-letters-${of}`, hourly)).toMatchObject({ Period: 300, EvaluationPeriods: 1 });
});

it.each(["marks-orphaned", "patches-failing"])(
  "takes %s for trouble when nothing has healed it",
  (heading) => {
    expect(alarm(heading)).toMatchObject({ Statistic: "Sum", Threshold: 0, EvaluationPeriods: 3 });
  },
);

it("waits for two sweeps before it calls a release overdue", () => {
  expect(alarm("release-overdue")).toMatchObject({ Threshold: 12 * 60_000, Statistic: "Maximum" });
});

it("does not count an initial delay as slowness", () => {
  const delayed = synthesize({ initialDelay: Duration.minutes(5) });
  expect(alarm("slow-protection", delayed)).toMatchObject({ Threshold: 6 * 60_000 });
});

it("has no cap to watch where there is none", () => {
  const uncapped = synthesize({ maxHold: Duration.minutes(0) });
  expect(alarm("hold-over-cap", uncapped)).toBeUndefined();
  uncapped.resourceCountIs("AWS::CloudWatch::Alarm", alarms.length - 1);
});

it("reports the topic of every alarm, its beginning and its end", () => {
  const everything = synthesizeEverything();
  const topic = ["arn:aws:sns:us-east-1:111122223333:ops"];
  for (const { Properties } of resourcesOf(everything, "AWS::CloudWatch::Alarm").values()) {
    expect(Properties).toMatchObject({ AlarmActions: topic, OKActions: topic });
  }
});

it("lets its owner add an action to every alarm", () => {
  const stack = new Stack(new App(), "Mine");
  const holder = new KarpenterNodeHolder(stack, "Holder", { cluster: "prod" });
  const action: IAlarmAction = { bind: () => ({ alarmActionArn: "arn:mine" }) };

  holder.addAlarmAction(action);

  const reported = [...resourcesOf(Template.fromStack(stack), "AWS::CloudWatch::Alarm").values()];
  expect(reported.map(({ Properties }) => Properties.AlarmActions)).toEqual(
    holder.alarms.map(() => ["arn:mine"]),
  );
});

it("watches only metrics that the functions emit", () => {
  const sources = globSync("lambda/**/*.ts", { cwd: root }).map((file) =>
    readFileSync(join(root, file), "utf8"),
  );
  const watched = alarms.filter(({ Namespace }) => Namespace === "KarpenterNodeHolder");
  expect(watched).toHaveLength(6);
  for (const { MetricName } of watched) expect(sources.join()).toContain(`add("${MetricName}"`);
});

it("offers its own metrics to those who build their own dashboards", () => {
  const holder = new KarpenterNodeHolder(new Stack(new App(), "Mine"), "Holder", { cluster: "prod" });
  expect(holder.metricNodesHeld()).toMatchObject({
    namespace: "KarpenterNodeHolder",
    metricName: "NodesHeldNow",
    dimensions: { Cluster: "prod" },
  });
});
