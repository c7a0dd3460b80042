import type { Part } from "../../infra/names.ts";
import { scheduleName } from "../../lambda/aws/scheduler-releases.ts";
import { hours, minutes } from "../../lambda/core/duration.ts";
import {
  adminSince,
  ago,
  envOf,
  failing,
  functionIs,
  functionsAre,
  gone,
  groupsOfHold,
  holding,
  inRecord,
  insideCluster,
  mappingIs,
  named,
  policyHas,
  queueIs,
  refusedTo,
  ruleIs,
  schedulesAre,
  swept,
  timerIs,
} from "./differing.ts";
import {
  type Answers,
  aFunction,
  aHeldScope,
  anAccount,
  anAlarm,
  aQueue,
  type Differing,
} from "./healthy-account.ts";

export type Row = readonly [how: string, differing: Differing, answers?: Answers];

export const noRight = { works: false, because: "no right" };
export const silent = (name: string) => () => {
  throw named(name, "not now");
};
export const toEvents = {
  Effect: "Allow",
  Principal: { Service: "events.amazonaws.com" },
  Action: "sqs:SendMessage",
};
const encrypted = { Bool: { "aws:SecureTransport": "false" } };
export const arn = (service: string, resource: string) =>
  `arn:aws:${service}:eu-west-1:123456789012:${resource}`;
const logOf = (part: Part) =>
  arn("logs", `log-group:/aws/lambda/karpenter-node-holder-prod-${part}:log-stream:any`);
const { SWEEP_EVERY: _, ...fewer } = aFunction("hold").env;
const in2040 = new Date("2040-01-01T00:00:00Z");
const oneAlarm = { alarms: async () => [anAlarm("sweep-silent", "OK")] };

/** Each breaks exactly one link. */
export const brokenLinks: readonly Row[] = [
  ["a function is turned off", functionIs("hold", { reservedConcurrency: 0 })],
  ["a function cannot start", functionIs("hold", { state: "Failed" })],
  ["an update failed", functionIs("hold", { lastUpdate: "Failed" })],
  ["a function lacks a setting", functionIs("sweep", { env: fewer })],
  ["a function has a setting that others lack", envOf("hold", { BREATHER: "5m" })],
  [
    "one function is outside of the VPC",
    { functionOf: async (one) => aFunction(one, { inVpc: one !== "sweep" }) },
  ],
  [
    "a function has another table, which it cannot read",
    { ...envOf("sweep", { HOLD_TABLE: "other" }), checks: { sweep: { record: noRight } } },
  ],
  ["one function does not answer", { checks: { release: silent("Runtime.ImportModuleError") } }],

  ["no rule leads to the queue", ruleIs()],
  ["the rule is disabled", ruleIs({ isEnabled: false })],
  ["the rule does not match", ruleIs({ pattern: { source: ["aws.ec2"] } })],
  ["the rule has lost its half for probes", ruleIs({ pattern: { $or: [{ source: ["aws.ec2"] }] } })],
  ["the queue is gone", queueIs("launches")],
  ["a thousand launches wait", queueIs("launches", { waiting: 1_000 })],
  ["its policy is gone", queueIs("launches", { policy: undefined })],
  [
    "its policy is another's",
    policyHas({ ...toEvents, Condition: { ArnEquals: { "aws:SourceArn": "other" } } }),
  ],
  [
    "its policy has an explicit Deny",
    policyHas(
      toEvents,
      { Effect: "Deny", Principal: "*", Action: "sqs:*", Condition: encrypted },
      { Effect: "Deny", Principal: { AWS: "*" }, Action: ["sqs:SendMessage"] },
    ),
  ],
  [
    "its policy lets anyone receive, and no one send",
    policyHas({ ...toEvents, Principal: "*", Action: "sqs:ReceiveMessage" }),
  ],
  [
    "its policy lets another service send",
    policyHas({ ...toEvents, Principal: { Service: "s3.amazonaws.com" } }),
  ],
  [
    "its policy lets the bus do something else",
    policyHas({ ...toEvents, Action: ["s3:*", "sqs:SendMessageLater"] }),
  ],
  ["the mapping is disabled", mappingIs("Disabled")],
  ["the mapping is gone", { mapping: gone }],
  ["a dead-letter queue is gone", queueIs("undelivered")],

  ["invocations that failed go nowhere", functionIs("release", { failuresArn: "" })],

  ["the schedule group is gone", { schedules: gone }],
  ["the schedule role is gone, and has no rights", { trust: gone, refused: failing(named("NoSuchEntity")) }],
  ["that role trusts others", { trust: async () => "{}" }],
  [
    "that role may not invoke the release",
    refusedTo("/schedules", "lambda:InvokeFunction", aFunction("hold").env.RELEASE_FUNCTION_ARN ?? ""),
  ],
  [
    "a function may not set one-shots",
    refusedTo(
      "/hold",
      "scheduler:CreateSchedule",
      arn("scheduler", "schedule/karpenter-node-holder-prod/any"),
    ),
  ],
  [
    "a permissions boundary does not let a function pass the one-shots' role",
    refusedTo("/sweep", "iam:PassRole", aFunction("sweep").env.SCHEDULE_ROLE_ARN ?? ""),
  ],
  ["the alias that one-shots invoke is gone", { hasAlias: async () => false }],
  [
    "a function may neither begin nor write a log",
    { refused: async (_, actions, resource) => (resource === logOf("sweep") ? actions : []) },
  ],
  ["a function may not queue work", refusedTo("/sweep", "sqs:SendMessage", aQueue("launches").arn)],
  ["a one-shot's name hides a recurring schedule", schedulesAre({ expression: "rate(1 minute)" })],
  ["a one-shot invokes something else", schedulesAre({ targetArn: "arn:elsewhere" })],
  ["a one-shot forces its release", schedulesAre({ input: `{"holdId":"${aHeldScope.id}","force":true}` })],
  [
    "a schedule has a name that only begins like a one-shot's",
    schedulesAre({ name: `${aHeldScope.id}-1795263600-copy` }),
  ],
  ["a one-shot is about no hold", schedulesAre({ name: "mine-1795263600", input: '{"holdId":"mine"}' })],
  ["a one-shot is about another hold", schedulesAre({ input: '{"holdId":"other"}' })],

  ["there is no such cluster", { cluster: gone }],
  ["a role is in another group", groupsOfHold("strangers")],
  ["the access function was killed and is an admin still", adminSince(ago(minutes(15)))],

  ["the table is gone", { check: { record: { works: false, because: "Requested resource not found" } } }],
  ["rights on nodes and on pods are missing", insideCluster({ missingRights: ["patch nodes", "list pods"] })],
  [
    "nodes may not be listed",
    insideCluster({
      foreignChange: "not tried",
      ownChange: "not tried",
      nodes: 0,
      missingRights: ["list nodes"],
    }),
  ],
  ["1.30 has no policy", insideCluster({ foreignChange: "admitted", kubernetes: "v1.30.0" })],
  [
    "a cluster of unknown age has no policy",
    insideCluster({ foreignChange: "admitted", kubernetes: "main" }),
  ],
  ["the policy refuses our mark", insideCluster({ ownChange: "refused", said: "denied" })],
  ["one function cannot ask EC2", { checks: { hold: { launches: noRight } } }],

  [
    "a hold lasts until 2040, and has its one-shot",
    holding({ until: in2040, nextLook: in2040 }, { name: scheduleName(aHeldScope.id, in2040) }),
  ],
  ["a hold's one-shot is gone", holding({})],
  ["the only one-shot is not due at its end", holding({}, { name: scheduleName(aHeldScope.id, in2040) })],
  ["a one-shot is turned off", holding({}, { isEnabled: false })],
  ["a one-shot was due, and set no other", holding({ nextLook: ago(minutes(20)) }, {})],
  ["the sweep's rule is disabled", timerIs({ isEnabled: false })],
  ["the sweep has not run for long", swept(hours(1))],
  [
    "the first sweep is late",
    { ...functionsAre({ changedAt: ago(minutes(13)) }), ...inRecord({ lastSweep: undefined }) },
  ],
  ["one alarm alone is left", oneAlarm],
  ["one alarm is missing", { alarms: async (names) => anAccount().alarms(names.slice(1)) }],
  ["one function with other code", { checks: { hold: { version: "0.0.1" } } }],
];
