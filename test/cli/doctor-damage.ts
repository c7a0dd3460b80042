import { scheduleName } from "../../lambda/aws/scheduler-releases.ts";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aPastHold } from "../support/builders.ts";
import {
  alsoDenied,
  clusterIs,
  endpointIs,
  forcing,
  functionIs,
  functionsHave,
  heldUntil,
  in2040,
  inRecord,
  insideCluster,
  insideVpcBut,
  nodePool,
  otherPolicy,
  overdue,
  queueIs,
  refusedTo,
  ruleIs,
  since1970,
  unexpected,
  withoutHold,
} from "./differing.ts";
import {
  type Answers,
  aFunction,
  aHeldScope,
  alarmsWith,
  anAccount,
  anAlarm,
  aRule,
  aSchedule,
  type Differing,
  none,
} from "./healthy-account.ts";

export type Row = readonly [how: string, differing: Differing, answers?: Answers];
/** Each breaks exactly one link. */
export const brokenLinks: readonly Row[] = [
  ["a function is missing", functionIs("sweep")],
  ["a function is turned off", functionIs("hold", { reservedConcurrency: 0 })],
  ["an update failed", functionIs("hold", { lastUpdate: "Failed" })],
  ["the rule is gone", { launchRule: none }],
  ["the rule is disabled", ruleIs({ isEnabled: false })],
  ["the rule does not match", ruleIs({ pattern: { source: ["aws.ec2"] } })],
  ["the rule leads elsewhere", ruleIs({ targets: [{ arn: "arn:elsewhere" }] })],
  ["the queue is gone", queueIs("launches")],
  ["its policy is gone", queueIs("launches", { policy: undefined })],
  ["its policy is another's", queueIs("launches", { policy: otherPolicy })],
  ["the mapping is disabled", { mapping: async () => ({ id: "m", state: "Disabled", lastResult: "" }) }],
  ["the mapping is gone", { mapping: none }],
  ["a dead-letter queue is gone", queueIs("undelivered")],
  ["the table is gone", { tableStatus: none }],
  ["the schedule group is gone", { scheduleGroup: none }],
  ["that group is going", { scheduleGroup: async () => "DELETING" }],
  ["the schedule role is gone", { role: none }],
  ["that role trusts others", { role: async () => ({ trust: {} }) }],
  ["nothing wakes the sweep", { ruleThatTargets: none }],
  ["the sweep's rule is disabled", { ruleThatTargets: async () => aRule({ isEnabled: false }) }],
  ["there is no such cluster", { cluster: none }],
  ["it knows no access entries", clusterIs({ authenticationMode: "CONFIG_MAP" })],
  ["the endpoint is private", endpointIs({ endpointPublicAccess: false })],
  ["the endpoint is public for some addresses only", endpointIs({ publicAccessCidrs: ["203.0.113.0/24"] })],
  ["an access entry is gone", { accessGroups: withoutHold }],
  ["the access function was killed and is an admin still", { adminSince: since1970 }],
  ["the cluster refuses the login", insideCluster({ works: false, because: "refused the login (401)" })],
  ["a right is missing", insideCluster({ missingRights: ["patch nodes"] })],
  ["the policy is missing", insideCluster({ foreignChange: "admitted" })],
  ["the policy refuses our mark", insideCluster({ ownChange: "refused", said: "denied" })],
  ["EC2 cannot be asked", { check: { launches: { works: false, because: "no right" } } }],
  ["the record cannot be read", inRecord({ works: false, because: "no right" })],
  ["a hold is overdue", inRecord({ holds: [overdue] })],
  ["a hold's one-shot is gone", { schedules: async () => [], ...inRecord({ holds: [aHeldScope] }) }],
  ["the sweep has not run for long", inRecord({ lastSweep: after(noon, -hours(1)).toISOString() })],
  ["no sweep ever ran", inRecord({ lastSweep: undefined })],
  ["the schedule role may not invoke the release", refusedTo("/schedules", "lambda:InvokeFunction")],
  ["a function may not set one-shots", refusedTo("/hold", "scheduler:CreateSchedule")],
  ["a function may not write its log", refusedTo("/release", "logs:PutLogEvents")],
  ["a schedule forces releases", { schedules: async () => [aSchedule(), forcing] }],
  [
    "a one-shot's name hides a recurring schedule",
    { schedules: async () => [aSchedule({ expression: "rate(1 minute)" })] },
  ],
  [
    "a one-shot is turned off",
    { schedules: async () => [aSchedule({ isEnabled: false })], ...inRecord({ holds: [aHeldScope] }) },
  ],
  ["one alarm alone is left", { alarms: async () => [anAlarm("sweep-silent", "OK")] }],
  [
    "a function has another table",
    functionIs("release", { env: { ...aFunction("release").env, HOLD_TABLE: "other" } }),
  ],
  [
    "a function works for another cluster",
    functionIs("hold", { env: { ...aFunction("hold").env, CLUSTER: "staging" } }),
  ],
  ["all functions work for another cluster", functionsHave({ CLUSTER: "staging" })],
  ["one function is outside of the VPC", insideVpcBut("sweep")],
  ["the queue's policy has an explicit Deny", queueIs("launches", { policy: alsoDenied })],
  ["50,000 launches wait", queueIs("launches", { waiting: 50_000 })],
  [
    "a hold lasts until 2040, and has its one-shot",
    {
      ...heldUntil(in2040),
      schedules: async () => [aSchedule({ name: scheduleName(aHeldScope.id, in2040) })],
    },
  ],
  [
    "a function has another table, which it cannot read",
    {
      ...functionIs("sweep", { env: { ...aFunction("sweep").env, HOLD_TABLE: "other" } }),
      checks: { sweep: { record: { works: false, because: "no right" } } },
    },
  ],
  [
    "one function cannot read the record",
    { checks: { release: { record: { works: false, because: "no right" } } } },
  ],
  [
    "one function cannot write to the record",
    { checks: { hold: { write: { works: false, because: "no right" } } } },
  ],
  ["no function can write to the record", { check: { write: { works: false, because: "no right" } } }],
  [
    "one function cannot log in",
    { checks: { hold: { cluster: { works: false, because: "refused (401)" } } } },
  ],
  [
    "one function may not patch nodes",
    { checks: { release: { cluster: { missingRights: ["patch nodes"] } } } },
  ],
  [
    "one function's mark is refused",
    { checks: { sweep: { cluster: { ownChange: "refused", said: "denied" } } } },
  ],
  ["one function cannot ask EC2", { checks: { hold: { launches: { works: false, because: "no right" } } } }],
  ["one function does not answer", { checks: { release: unexpected("Runtime.ImportModuleError") } }],
];

/** Each is one warning. */
export const warnings: readonly Row[] = [
  ["letters in a dead-letter queue", queueIs("undelivered", { waiting: 3 })],
  ["an alarm that is on", alarmsWith(anAlarm("sweep-silent", "ALARM"))],
  ["no alarms at all", { alarms: async () => [] }],
  ["needless rights", insideCluster({ needlessRights: ["delete nodes"] })],
  ["a missing right to list NodeClaims", insideCluster({ missingRights: ["list nodeclaims"] })],
  ["an old cluster without policies", insideCluster({ foreignChange: "admitted", kubernetes: "v1.29.4" })],
  ["nodes stuck in deletion", insideCluster({ stuck: [{ node: "a", since: noon.toISOString() }] })],
  [
    "nodes that users hold",
    insideCluster({ userHeld: [{ node: "a", since: after(noon, -hours(50)), by: "kubectl" }] }),
  ],
  ["a cluster's clock that is off", insideCluster({ clusterTime: after(noon, minutes(5)) })],
  ["an alarm without data", alarmsWith(anAlarm("sweep-silent", "INSUFFICIENT_DATA"))],
  ["an alarm without an action", alarmsWith(anAlarm("sweep-silent", "OK", { notifies: false }))],
  [
    "no alarm with an action",
    {
      alarms: async (names) => (await anAccount().alarms(names)).map((one) => ({ ...one, notifies: false })),
    },
  ],
  [
    "a mapping whose last result is a problem",
    { mapping: async () => ({ id: "m", state: "Enabled", lastResult: "PROBLEM: Function call failed" }) },
  ],
  ["a function that may run once at a time", functionIs("hold", { reservedConcurrency: 1 })],
  ["a function that may not be invoked", { checks: { sweep: unexpected("AccessDeniedException") } }],
  [
    "an old pause",
    inRecord({
      pauses: [
        {
          scope: "cluster",
          since: after(noon, -hours(30)),
          until: after(noon, hours(90)),
          because: "upgrade",
        },
      ],
    }),
  ],
  [
    "holds that reach their cap each day",
    {},
    { past: [1, 25, 49].map((ago) => aPastHold({ capped: true, endedAt: after(noon, -hours(ago)) })) },
  ],
  [
    "nodeEvents without the right to write Events",
    { ...functionsHave({ NODE_EVENTS: "true" }), ...insideCluster({ missingRights: ["create events"] }) },
  ],
  [
    "hold=auto without the right to list pods",
    { ...functionsHave({ HOLD: "auto" }), ...insideCluster({ missingRights: ["list pods"] }) },
  ],
  ["a NodePool that is never consolidated", {}, nodePool({ consolidateAfter: "Never" })],
  ["a NodePool with a budget of 0", {}, nodePool({ budgets: [{ nodes: "0" }] })],
  ["a NodePool of which only empty nodes are taken", {}, nodePool({ consolidationPolicy: "WhenEmpty" })],
];
