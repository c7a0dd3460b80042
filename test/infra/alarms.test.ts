import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type App, Stack } from "aws-cdk-lib";
import type { Template } from "aws-cdk-lib/assertions";
import type { IAlarmAction } from "aws-cdk-lib/aws-cloudwatch";
import { SnsAction } from "aws-cdk-lib/aws-cloudwatch-actions";
import { Alias, Key } from "aws-cdk-lib/aws-kms";
import { CfnTopic, type ITopic, Topic } from "aws-cdk-lib/aws-sns";
import { describe, expect, it } from "vitest";
import { KarpenterNodeHolder, type KarpenterNodeHolderProps } from "../../infra/index.ts";
import { alarmNames } from "../../infra/names.ts";
import { documentLink } from "../../infra/package-root.ts";
import { Metric } from "../../lambda/core/metrics.ts";
import { newApp, resourcesOf, synthesize } from "./synthesized.ts";

const template = synthesize();
const prefix = "karpenter-node-holder-prod-";
const alarmsOf = (of: Template) =>
  [...resourcesOf(of, "AWS::CloudWatch::Alarm").values()].map(({ Properties }) => Properties);
const alarms = alarmsOf(template);
const alarm = (heading: string, props: Partial<KarpenterNodeHolderProps> = {}) =>
  alarmsOf(synthesize(props)).find(({ AlarmName }) => AlarmName === prefix + heading);
const root = join(import.meta.dirname, "../..");
const hourly = { sweepEvery: "1h" } as const;

it("has every alarm by its exact name, for those who ask AWS about them", () => {
  expect(alarms.map(({ AlarmName }) => String(AlarmName)).sort()).toEqual(alarmNames("prod").toSorted());
});

it("names an alarm's urgency and the first command, and links to its entry", () => {
  const runbook = readFileSync(join(root, "docs/operating.md"), "utf8");
  const described = /^\[(page|ticket)\] .+\. First: (npx .+ --cluster prod)\. See (\S+)#([a-z-]+)$/;
  for (const { AlarmName, AlarmDescription } of alarms) {
    const [, severity, first = "", link, heading] = described.exec(String(AlarmDescription)) ?? [];
    expect(String(AlarmName)).toMatch(new RegExp(`^${prefix}${heading}`));
    expect(link).toBe(documentLink("operating.md"));
    const [, section = ""] = runbook.split(`\n### ${heading}\n`);
    const entry = section.split("\n##")[0]?.toLowerCase();
    for (const part of [severity, "investigation", "resolution"]) expect(entry).toContain(`**${part}.**`);
    const before = runbook.split("\n## When an alarm goes off\n")[1]?.split("\n### ")[0];
    expect(`${before}\n${entry}`.toLowerCase()).toContain(first.replace("prod", "cluster"));
  }
});

it("creates the alarm on silent sweeps only when the timer and the rights in the cluster are there", () => {
  const found = [...resourcesOf(template, "AWS::CloudWatch::Alarm").values()];
  const silent = found.find(({ Properties }) => Properties.AlarmName === `${prefix}sweep-silent`);
  const { Resources } = template.toJSON();
  const timer = silent?.DependsOn?.find((id) => Resources[id].Properties.ScheduleExpression);
  expect(Resources[timer ?? ""]?.DependsOn).toContainEqual(expect.stringMatching(/Installed/));
});

it.each<[Partial<KarpenterNodeHolderProps>, number]>([
  [{ sweepEvery: "4m" }, 300],
  [{}, 600],
  [hourly, 3900],
])("looks at periods that contain a sweep even when a timer comes late: with %j at %i s", (props, Period) => {
  for (const heading of ["sweep-silent", "release-overdue", "hold-over-cap", "marks-orphaned"])
    expect(alarm(heading, props)).toMatchObject({ Period });
});

it("calls a function failing when three tries of the same work failed, however far apart they come", () => {
  const [queue] = [...resourcesOf(template, "AWS::SQS::Queue").values()].filter(
    ({ Properties }) => Properties.RedrivePolicy,
  );
  const twoDeliveries = 2 * Number(queue?.Properties.VisibilityTimeout);
  for (const part of ["hold", "release", "control", "sweep"]) {
    const failing = alarm(`function-errors-${part}`);
    expect(failing).toMatchObject({ Statistic: "Sum", Threshold: 2, EvaluationPeriods: 1 });
    // SQS and Lambda add delays of their own.
    expect(failing?.Period).toBeGreaterThan(twoDeliveries + 60);
  }
  expect(alarm("function-errors-sweep", hourly)?.Period).toBeGreaterThan(2 * 3600);
  expect(alarm("function-errors-hold", hourly)).toMatchObject({ Period: 1800 });
});

it("does not page for the one sweep that ends what a deployment has made too long", () => {
  expect(alarm("hold-over-cap")).toMatchObject({ EvaluationPeriods: 2 });
});

it("has no cap to watch where there is none", () => {
  const uncapped = { hold: "20m", maxHold: "0s" } as const;
  expect(alarm("hold-over-cap", uncapped)).toBeUndefined();
  expect(alarmsOf(synthesize(uncapped))).toHaveLength(alarms.length - 1);
});

const errorsOf = (add: (holder: KarpenterNodeHolder, stack: Stack) => void, props: object = {}) => {
  const app = newApp();
  const stack = new Stack(app, "Mine");
  add(new KarpenterNodeHolder(stack, "Holder", { cluster: "prod", ...props }), stack);
  const messages = app.synth().stacks.flatMap((one) => one.messages);
  return messages.filter(({ level }) => level === "error").map(({ entry }) => String(entry.data));
};

describe("a topic that CloudWatch cannot send to", () => {
  const keyOf = (stack: Stack) => Alias.fromAliasName(stack, "Key", "alias/aws/sns");
  const notify = (holder: KarpenterNodeHolder, topic: ITopic) => holder.addAlarmAction(new SnsAction(topic));
  const refused = expect.stringMatching(/^No alarm reaches the topic \S+: .*alias\/aws\/sns/);

  it("is refused, however its key is given and wherever it is", () => {
    const here = errorsOf((holder, stack) =>
      notify(holder, new Topic(stack, "Ops", { masterKey: keyOf(stack) })),
    );
    expect(here).toEqual([expect.stringContaining("the topic Mine/Ops: ")]);
    const later = errorsOf((holder, stack) => {
      const topic = new CfnTopic(stack, "Ops");
      holder.addAlarmAction({ bind: () => ({ alarmActionArn: topic.ref }) });
      topic.kmsMasterKeyId = "alias/aws/sns";
    });
    expect(later).toEqual([refused]);
    const elsewhere = errorsOf((holder) => {
      const other = new Stack(holder.node.root as App, "Other");
      notify(holder, new Topic(other, "Ops", { masterKey: keyOf(other) }));
    });
    expect(elsewhere).toEqual([expect.stringContaining("the topic Other/Ops: ")]);
  });

  it("is not one without a key, with a key of its own, or with one that is not known at synth", () => {
    expect(errorsOf((holder, stack) => notify(holder, new Topic(stack, "Ops")))).toEqual([]);
    expect(
      errorsOf((holder, stack) => {
        new Topic(stack, "Others", { masterKey: keyOf(stack) });
        notify(holder, new Topic(stack, "Ops", { masterKey: new Key(stack, "Own") }));
        notify(holder, Topic.fromTopicArn(stack, "Known", "arn:aws:sns:us-east-1:111122223333:ops"));
      }),
    ).toEqual([]);
  });
});

describe("alarms that notify no one", () => {
  const action: IAlarmAction = { bind: () => ({ alarmActionArn: "arn:mine" }) };

  it("are an error of the synthesis, with the lines to add", () => {
    const [error, ...others] = errorsOf(() => {});
    expect(others).toEqual([]);
    const topic = ['alarmTopic: Topic.fromTopicArn(this, "Ops", "arn:', "-c alarmTopicArn=arn:"];
    for (const line of [...topic, 'alarms: "none"', "-c alarms=none"]) expect(error).toContain(line);
  });

  it("are accepted where the app says so, and none are without an action that is added later", () => {
    expect(errorsOf(() => {}, { alarms: "none" })).toEqual([]);
    expect(errorsOf((holder) => holder.addAlarmAction(action))).toEqual([]);
    expect(errorsOf(({ alarms: all }) => all.forEach((one) => void one.addAlarmAction(action)))).toEqual([]);
    expect(errorsOf(({ alarms: [first] }) => first?.addAlarmAction(action))).toHaveLength(1);
  });
});

it("watches and draws only metrics that the functions emit, and draws each that no alarm watches", () => {
  const files = globSync("lambda/**/*.ts", { cwd: root }).filter((file) => !file.endsWith("core/metrics.ts"));
  const sources = files.map((file) => readFileSync(join(root, file), "utf8")).join();
  const ours = alarms.filter(({ Namespace }) => Namespace === "KarpenterNodeHolder");
  const watched = ours.map(({ MetricName }) => String(MetricName));
  const [dashboard] = resourcesOf(synthesize(), "AWS::CloudWatch::Dashboard").values();
  const found = JSON.stringify(dashboard).matchAll(/KarpenterNodeHolder\W+(\w+)\W+Cluster\W+prod\W/g);
  const drawn = new Set([...found].map(([, name = ""]) => name));
  expect(watched.length).toBeGreaterThan(4);
  const unwatched = Object.keys(Metric).filter((name) => !watched.includes(name));
  expect(unwatched.filter((name) => !drawn.has(name))).toEqual([]);
  for (const name of [...watched, ...drawn]) expect(sources).toMatch(new RegExp(`"${name}"|\\b${name}:`));
});
