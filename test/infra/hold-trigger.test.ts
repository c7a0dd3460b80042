import { Duration, Stack } from "aws-cdk-lib";
import { afterEach, expect, it } from "vitest";
import { KarpenterNodeHolder, type KarpenterNodeHolderProps } from "../../infra/index.ts";
import { hours } from "../../lambda/core/duration.ts";
import { parseMessage } from "../../lambda/handlers/events.ts";
import { actions, allowed, newApp, resourcesOf, synthesize, synthesizeWith } from "./synthesized.ts";

const onDeployments = (holder: KarpenterNodeHolder, about: object = {}, id = "Deployments") =>
  holder.holdOn(id, { eventPattern: { source: ["aws.codedeploy"] }, for: Duration.minutes(30), ...about });
const inOfficeHours = (holder: KarpenterNodeHolder, about: object = {}, id = "OfficeHours") =>
  holder.holdDuring(id, { schedule: "cron(0 8 ? * MON-FRI *)", for: "90m", ...about });

const template = synthesizeWith((holder) => {
  onDeployments(holder);
  inOfficeHours(holder, { timeZone: "Europe/Berlin" });
});
const targetOf = (type: string, text: string, of = template) => {
  const found = [...resourcesOf(of, type).values()].find((one) => JSON.stringify(one).includes(text));
  return Object([Object(found?.Properties).Targets ?? Object(found?.Properties).Target].flat()[0]);
};
/** What the rule of the event sends. */
const sentByEvent = (of = template): string =>
  targetOf("AWS::Events::Rule", "codedeploy", of)
    .InputTransformer.InputTemplate.replace("<id>", "event-1")
    .replace(/"?<time>"?/, '"2026-01-31T09:30:00Z"');
/** Where a trigger sends to, and what it cannot deliver; the way of launches. */
const wayOf = ({ Arn, DeadLetterConfig }: { Arn: unknown; DeadLetterConfig: unknown }) => ({
  Arn,
  DeadLetterConfig,
});
const wayOfLaunches = wayOf(targetOf("AWS::Events::Rule", "aws.ec2"));

it("an event takes the way of launches, with its own time and a name", () => {
  const target = targetOf("AWS::Events::Rule", "codedeploy");
  expect(wayOf(target)).toEqual(wayOfLaunches);
  expect(target.InputTransformer.InputPathsMap).toEqual({ id: "$.id", time: "$.time" });
  expect(parseMessage(sentByEvent())).toEqual({
    kind: "hold",
    cause: "event",
    name: "Deployments",
    for: 30 * 60_000,
    reason: "event Deployments (event-1)",
    at: new Date("2026-01-31T09:30:00Z"),
    scope: "cluster",
  });
});

it("an event may hold for as long as maxRequest allows, and the hold function takes its message", () => {
  const longest = synthesizeWith((holder) => onDeployments(holder, { for: "90d" }), { maxRequest: "90d" });
  expect(parseMessage(sentByEvent(longest))).toMatchObject({ for: hours(24 * 90) });
});

it("a name may be as long as the hold function takes it, beside the event's id", () => {
  const sentBy = (letters: number) =>
    sentByEvent(synthesizeWith((holder) => onDeployments(holder, { name: "n".repeat(letters) })));
  expect(parseMessage(sentBy(200).replace("event-1", crypto.randomUUID()))).toMatchObject({ kind: "hold" });
  expect(() => sentBy(201)).toThrow("name must be one line of 1 to 200 characters");
});

it("so does a window, in its time zone, by a role that may do no more than that", () => {
  template.hasResourceProperties("AWS::Scheduler::Schedule", {
    ScheduleExpression: "cron(0 8 ? * MON-FRI *)",
    ScheduleExpressionTimezone: "Europe/Berlin",
    FlexibleTimeWindow: { Mode: "OFF" },
  });
  const target = targetOf("AWS::Scheduler::Schedule", "cron");
  expect(wayOf(target)).toEqual(wayOfLaunches);
  const sent = target.Input.replace("<aws.scheduler.scheduled-time>", "2026-01-31T09:30:00Z");
  expect(parseMessage(sent)).toMatchObject({ cause: "window", for: 90 * 60_000 });
  expect(actions(allowed(template, "OfficeHoursRole"))).toEqual(["sqs:SendMessage"]);
});

it("windows of the setting are those of the construct, with the schedule as their name", () => {
  const own = synthesize({ holdDuring: "cron(0 8 ? * MON-FRI *) Europe/Berlin 90m" });
  const target = targetOf("AWS::Scheduler::Schedule", "cron", own);
  expect(target.Input).toContain('"name":"cron(0 8 ? * MON-FRI *) Europe/Berlin"');
  expect(wayOf(target)).toEqual(wayOfLaunches);
});

it("an id may be that of one of the holder's own parts", () => {
  let ids: readonly string[] = [];
  const all = synthesizeWith(
    (holder) => {
      ids = holder.node.children.map(({ node }) => node.id);
      ids.forEach((id, i) => {
        if (i % 2) onDeployments(holder, {}, id);
        else inOfficeHours(holder, {}, id);
      });
    },
    { holdDuring: "cron(0 8 * * ? *) 1h" },
  );
  expect(ids).toEqual(
    expect.arrayContaining(["Releases", "Launches", "SweepTimer", "HoldDuring1", "Triggers"]),
  );
  const rules = resourcesOf(all, "AWS::Events::Rule").size;
  expect(rules + resourcesOf(all, "AWS::Scheduler::Schedule").size).toBe(ids.length + 3);
});

it("an id is refused a second time, also for the other kind", () => {
  const twice = (holder: KarpenterNodeHolder) => {
    onDeployments(holder);
    inOfficeHours(holder, {}, "Deployments");
  };
  expect(() => synthesizeWith(twice)).toThrow(
    "of Test/Holder/Triggers cannot be used: another holdOn or holdDuring has the id Deployments: give each its own",
  );
});

const holderWith = (props: Partial<KarpenterNodeHolderProps>) =>
  new KarpenterNodeHolder(new Stack(newApp(), "Test"), "Holder", { cluster: "prod", ...props });
const usual = holderWith({});
const byPool = holderWith({ scope: "nodepool" });
afterEach(() => {
  for (const holder of [usual, byPool]) {
    const { node } = holder.node.findChild("Triggers");
    for (const { node: refused } of node.children) node.tryRemoveChild(refused.id);
  }
});

type Refused = [add: () => unknown, problem: string];
it.each<Refused>([
  [() => onDeployments(byPool), 'Deployments cannot be used: scope must be "nodepool/NAME"'],
  [() => inOfficeHours(usual, { timeZone: "Berlin" }), "did you mean Europe/Berlin?"],
  [
    () => inOfficeHours(usual, { timezone: "Europe/Berlin" }),
    "OfficeHours cannot be used: timezone is no setting: did you mean timeZone?",
  ],
  [() => onDeployments(usual, { nmae: "deploy" }), "nmae is no setting: did you mean name?"],
  [() => onDeployments(usual, { for: undefined }), "like 30m, but is missing"],
  ...[undefined, {}, { source: [] }, { detail: {} }, { source: undefined }].map(
    (eventPattern): Refused => [
      () => onDeployments(usual, { eventPattern }),
      "Test/Holder/Triggers/Deployments cannot be used: eventPattern must name an event",
    ],
  ),
  [
    () => onDeployments(usual, { name: "of <team>" }),
    'Deployments cannot be used: name must not be "of <team>": EventBridge reads <…> as a placeholder',
  ],
  [
    () => inOfficeHours(usual, { name: "<aws.scheduler.x>" }),
    'OfficeHours cannot be used: name must not be "<',
  ],
  [() => onDeployments(usual, { name: "two\nlines" }), "Deployments cannot be used: name must be one line"],
  [() => inOfficeHours(usual, { schedule: undefined }), "OfficeHours cannot be used: schedule must be cron"],
])("what cannot be used stops the synth: %s: %s", (add, problem) => {
  expect(add).toThrow(problem);
});
