import { scheduleName } from "../../lambda/aws/scheduler-releases.ts";
import { hours, minutes } from "../../lambda/core/duration.ts";
import {
  adminSince,
  ago,
  clusterIs,
  envOf,
  failing,
  functionIs,
  gone,
  groupsOfHold,
  holding,
  inRecord,
  insideCluster,
  manifestIs,
  many,
  mappingIs,
  named,
  policyHas,
  queueIs,
  refusedTo,
  ruleIs,
  schedulesAre,
  silent,
  swept,
  timerIs,
  withRules,
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

const noRight = { works: false, because: "no right" };
export const toEvents = {
  Effect: "Allow",
  Principal: { Service: "events.amazonaws.com" },
  Action: "sqs:SendMessage",
};
const arn = (service: string, resource: string) => `arn:aws:${service}:eu-west-1:123456789012:${resource}`;
const { env } = aFunction("hold");
const { SWEEP_EVERY: _, ...fewer } = env;
const in2040 = new Date("2040-01-01T00:00:00Z");

/** What breaks each link, and no other. */
export const brokenLinks: Readonly<Record<string, readonly Row[]>> = {
  functions: [
    ["a function is turned off", functionIs("hold", { reservedConcurrency: 0 })],
    ["a function cannot start", functionIs("hold", { state: "Failed" })],
    ["an update failed", functionIs("hold", { lastUpdate: "Failed" })],
    ["a function lacks a setting", functionIs("sweep", { env: fewer })],
    ["a function has a setting that others lack", envOf("hold", { BREATHER: "5m" })],
    ["one is outside of the VPC", { functionOf: async (one) => aFunction(one, { inVpc: one !== "sweep" }) }],
    ["one is missing", functionIs("release")],
    ["all are missing", { functionOf: gone }],
  ],
  code: [
    ["one function does not answer", { checks: { release: silent("Runtime.ExitError") } }],
    ["one function has other code", { checks: { hold: { version: "0.0.1" } } }],
  ],
  record: [["the table is gone", { check: { record: { works: false, because: "not found" } } }]],
  launches: [["one function cannot ask EC2", { checks: { hold: { launches: noRight } } }]],
  queue: [
    ["it is gone", queueIs("launches")],
    ["a thousand launches wait", queueIs("launches", { waiting: 1_000 })],
  ],
  rule: [
    ["none leads to the queue", ruleIs()],
    ["it is disabled", ruleIs({ isEnabled: false })],
    ["it has lost its half for probes", ruleIs({ pattern: { $or: [{ source: ["aws.ec2"] }] } })],
  ],
  "queue policy": [
    ["it is gone", queueIs("launches", { policy: undefined })],
    [
      "it is for another rule",
      policyHas({ ...toEvents, Condition: { ArnEquals: { "aws:SourceArn": "x" } } }),
    ],
    ["anyone may receive, and no one send", policyHas({ ...toEvents, Action: "sqs:ReceiveMessage" })],
    ["what is allowed is named alike", policyHas({ ...toEvents, Action: ["sqs:SendMessageBatch", "s3:*"] })],
    ["another service may send", policyHas({ ...toEvents, Principal: { Service: "s3.amazonaws.com" } })],
    ["the bus is denied", policyHas({ ...toEvents, Effect: "Deny" })],
  ],
  mapping: [
    ["it is disabled", mappingIs("Disabled")],
    ["it is gone", { mapping: gone }],
  ],
  "dead letters": [
    ["a queue is gone", queueIs("undelivered")],
    ["the rule has none", ruleIs({ deadLetterArn: "" })],
    ["invocations that failed go nowhere", functionIs("release", { failuresArn: "" })],
  ],
  schedules: [
    ["their group is gone", { schedules: gone }],
    ["a one-shot's name hides a recurring schedule", schedulesAre({ expression: "rate(1 minute)" })],
    ["a one-shot invokes something else", schedulesAre({ targetArn: "arn:elsewhere" })],
    ["one forces its release", schedulesAre({ input: `{"holdId":"${aHeldScope.id}","force":true}` })],
    ["one is about no hold", schedulesAre({ name: "mine-1795263600", input: '{"holdId":"mine"}' })],
    ["one is about another hold", schedulesAre({ input: '{"holdId":"other"}' })],
    ["many are foreign", schedulesAre(...many(6, (n) => ({ name: `foreign-${n}` })))],
  ],
  "schedule role": [
    ["it is gone, and has no rights", { trust: gone, refused: failing(named("NoSuchEntity")) }],
    ["it trusts others", { trust: async () => "{}" }],
  ],
  "release alias": [["it is gone", { hasAlias: async () => false }]],
  permissions: [
    [
      "one-shots may not invoke the release",
      refusedTo("/schedules", "lambda:InvokeFunction", env.RELEASE_FUNCTION_ARN ?? ""),
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
      "a function may not pass the one-shots' role",
      refusedTo("/sweep", "iam:PassRole", env.SCHEDULE_ROLE_ARN ?? ""),
    ],
    ["a function may not queue work", refusedTo("/sweep", "sqs:SendMessage", aQueue("launches").arn)],
    [
      "a function may not write a log",
      refusedTo(
        "/hold",
        "logs:PutLogEvents",
        arn("logs", "log-group:/aws/lambda/karpenter-node-holder-prod-hold:log-stream:any"),
      ),
    ],
  ],
  cluster: [["there is none", { cluster: gone }]],
  "access entries": [
    ["a role has none", groupsOfHold()],
    ["a role is in another group", groupsOfHold("strangers")],
  ],
  admin: [["the access function was killed", adminSince(ago(minutes(15)))]],
  manifest: [["the role is different", {}, manifestIs("different", "unknown to this cluster")]],
  login: [["the cluster refuses it", insideCluster({ works: false, because: "refused the login (401)" })]],
  rights: [
    [
      "those on nodes and on pods are missing",
      insideCluster({ missingRights: ["patch nodes", "list pods"] }),
    ],
    [
      "nodes may not be listed",
      insideCluster({
        ...{ foreignChange: "not tried", ownChange: "not tried" },
        ...{ nodes: 0, missingRights: ["list nodes"] },
      }),
    ],
  ],
  policy: [
    ["1.30 has none", insideCluster({ foreignChange: "admitted", kubernetes: "v1.30.0" })],
    ["a cluster of unknown age has none", insideCluster({ foreignChange: "admitted", kubernetes: "main" })],
    ["it refuses our mark", insideCluster({ ownChange: "refused", said: "denied" })],
    [
      "it is missing where the holder observes",
      withRules({ mode: "observe" }, { foreignChange: "admitted" }),
    ],
  ],
  holds: [
    ["one should have ended", holding({ until: ago(minutes(9)), nextLook: ago(minutes(9)) })],
    [
      "one lasts until 2040, and has its one-shot",
      holding({ until: in2040, nextLook: in2040 }, { name: scheduleName(aHeldScope.id, in2040) }),
    ],
    ["a one-shot is gone", holding({})],
    ["the only one-shot is not due at its end", holding({}, { name: scheduleName(aHeldScope.id, in2040) })],
    ["a one-shot is turned off", holding({}, { isEnabled: false })],
    ["a one-shot was due, and set no other", holding({ nextLook: ago(minutes(20)) }, {})],
  ],
  timer: [
    ["it is disabled", timerIs({ isEnabled: false })],
    ["there is none", timerIs()],
  ],
  sweep: [
    ["it has not run for long", swept(hours(1))],
    [
      "the first one is late",
      { ...functionIs("sweep", { changedAt: ago(minutes(13)) }), ...inRecord({ lastSweep: undefined }) },
    ],
  ],
  alarms: [
    ["one alone is left", { alarms: async () => [anAlarm("sweep-silent", "OK")] }],
    ["one is missing", { alarms: async (names) => anAccount().alarms(names.slice(1)) }],
  ],
  probe: [["it is lost", {}, { probe: () => null }]],
};

const late = { holds: [{ ...aHeldScope, until: ago(minutes(9)) }], lastSweep: ago(hours(1)) };
const lateAnd = ({ check, ...rest }: Differing): Differing => ({
  ...rest,
  check: { ...(typeof check === "object" && check), record: late },
});
const noLogin = { checks: { hold: { cluster: { works: false, because: "no answer" } } } };
const unlimited = { foreignChange: "admitted", missingRights: ["patch nodes"] };

/** What follows from a link that is broken, and so is no second cause. */
export const consequences: readonly (readonly [cause: string, follow: string[], ...Row])[] = [
  ["queue", ["rule"], "the queue is gone, and the rule's target", { ...queueIs("launches"), ...ruleIs() }],
  [
    "functions",
    ["record"],
    "a function has another table",
    { ...envOf("sweep", { HOLD_TABLE: "other" }), checks: { sweep: { record: noRight } } },
  ],
  [
    "cluster",
    ["access entries"],
    "it lets no role in",
    { ...clusterIs({ authenticationMode: "CONFIG_MAP" }), ...groupsOfHold() },
  ],
  ["access entries", ["login"], "a function without one cannot log in", { ...groupsOfHold(), ...noLogin }],
  ["rights", ["policy"], "rights and policy are missing", insideCluster(unlimited)],
  ["manifest", ["rights", "policy"], "neither is as it was", insideCluster(unlimited), manifestIs("missing")],
  ["access entries", ["holds", "sweep"], "nothing ends in time", lateAnd(groupsOfHold())],
  ["record", ["sweep"], "nothing ends in time", lateAnd({ check: { write: noRight } })],
  [
    "login",
    ["holds", "sweep"],
    "nothing ends in time",
    lateAnd(insideCluster({ works: false, because: "" })),
  ],
  ["rights", ["holds", "sweep"], "nothing ends", lateAnd(insideCluster({ missingRights: ["patch nodes"] }))],
  ["policy", ["sweep"], "nothing ends in time", lateAnd(insideCluster({ foreignChange: "admitted" }))],
  ["timer", ["sweep"], "nothing ends in time", lateAnd(timerIs())],
];
