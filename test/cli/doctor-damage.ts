import type { VpcConfigResponse } from "@aws-sdk/client-eks";
import * as v from "valibot";
import { nodePoolSchema } from "../../cli/advise/objects.ts";
import type { Account, FunctionFacts } from "../../cli/doctor/aws/account.ts";
import { unreachableFromOutside } from "../../lambda/aws/usable-cluster.ts";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import type { Part } from "../../lambda/names.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aPastHold } from "../support/builders.ts";
import {
  type Answers,
  aFunction,
  aHeldScope,
  alarmsWith,
  anAccount,
  anAlarm,
  aQueue,
  aRule,
  aSchedule,
  type Differing,
  none,
} from "./healthy-account.ts";

/** An account in which one function differs, or is missing. */
export const functionIs = (part: Part, about?: Partial<FunctionFacts>): Partial<Account> => ({
  functionOf: async (one) => (one === part ? about && aFunction(one, about) : aFunction(one)),
});
export const queueIs = (part: string, about?: Parameters<typeof aQueue>[1]): Partial<Account> => ({
  queue: async (urlOrArn) => {
    const name = urlOrArn.split(/[/:]/).at(-1) ?? "";
    return name === part ? about && aQueue(name, about) : aQueue(name);
  },
});
export const ruleIs = (about: Parameters<typeof aRule>[0]): Partial<Account> => ({
  launchRule: async () => aRule(about),
});
export const clusterIs = (about: object): Partial<Account> => ({
  cluster: async () => ({
    ...{ status: "ACTIVE", version: "1.36", authenticationMode: "API", unreachable: undefined },
    ...about,
  }),
});
export const endpointIs = (config: VpcConfigResponse) =>
  clusterIs({ unreachable: unreachableFromOutside("prod", config) });
export const insideCluster = (cluster: object): Differing => ({ check: { cluster } });
export const inRecord = (record: object): Differing => ({ check: { record } });

/** A problem that belongs to another rule than ours. */
export const otherPolicy = {
  Statement: [
    {
      ...{ Effect: "Allow", Principal: { Service: "events.amazonaws.com" }, Action: "sqs:SendMessage" },
      Condition: { ArnEquals: { "aws:SourceArn": "other" } },
    },
  ],
};
export const withoutHold = async (role: string) =>
  role.endsWith("/hold") ? undefined : ["karpenter-node-holder"];
export const since1970 = async (role: string) => (role.endsWith("/cluster-access") ? new Date(0) : undefined);
export const overdue = { ...aHeldScope, until: after(noon, -minutes(9)) };

export const functionsHave = (env: Readonly<Record<string, string>>): Partial<Account> => ({
  functionOf: async (part) => aFunction(part, { env: { ...aFunction(part).env, ...env } }),
});
export const heldUntil = (until: Date) => inRecord({ holds: [{ ...aHeldScope, until, nextLook: until }] });
export const nodePool = (
  disruption: Readonly<Record<string, unknown>>,
  annotations: Readonly<Record<string, string>> = {},
): Answers => ({
  findNodePools: async () => [
    v.parse(nodePoolSchema, {
      metadata: { name: "batch" },
      spec: { disruption, template: { metadata: { annotations } } },
    }),
  ],
});
export const refusedTo = (role: string, action: string): Partial<Account> => ({
  refused: async (roleArn, actions) =>
    roleArn.endsWith(role) ? actions.filter((one) => one === action) : [],
});
/** What stolen credentials of a function can create. */
export const forcing = aSchedule({ name: "backup", expression: "rate(1 minute)", input: '{"force":true}' });
export const insideVpcBut = (part: Part): Partial<Account> => ({
  functionOf: async (one) => aFunction(one, { inVpc: one !== part }),
});
export const alsoDenied = {
  Statement: [
    ...Object(aQueue("launches").policy).Statement,
    {
      Effect: "Deny",
      Principal: "*",
      Action: "sqs:*",
      Condition: { Bool: { "aws:SecureTransport": "false" } },
    },
    { Effect: "Deny", Principal: { AWS: "*" }, Action: ["sqs:SendMessage"] },
  ],
};
export const unexpected = (name: string) => () => {
  throw Object.assign(new Error("not now"), { name });
};

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
  ["a hold lasts until 2040", heldUntil(new Date("2040-01-01T00:00:00Z"))],
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
    "hold=auto without the right to list pods",
    { ...functionsHave({ HOLD: "auto" }), ...insideCluster({ missingRights: ["list pods"] }) },
  ],
  ["a NodePool that is never consolidated", {}, nodePool({ consolidateAfter: "Never" })],
  ["a NodePool with a budget of 0", {}, nodePool({ budgets: [{ nodes: "0" }] })],
  ["a NodePool of which only empty nodes are taken", {}, nodePool({ consolidationPolicy: "WhenEmpty" })],
];
