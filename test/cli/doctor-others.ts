import { scheduleName } from "../../lambda/aws/scheduler-releases.ts";
import type { AccessFinding } from "../../lambda/cluster-access/cluster-rights.ts";
import { after, type Duration, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";
import {
  endpointIs,
  functionIs,
  functionsHave,
  heldUntil,
  inRecord,
  insideCluster,
  nodePool,
  overdue,
  queueIs,
  ruleIs,
  withoutHold,
} from "./differing.ts";
import { brokenLinks, type Row } from "./doctor-damage.ts";
import { aTrip } from "./function-answers.ts";
import {
  type Answers,
  aFunction,
  aHeldScope,
  alarmsWith,
  anAccount,
  anAlarm,
  aQueue,
  aSchedule,
  none,
} from "./healthy-account.ts";

const many = <T>(count: number, one: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => one(n));
const since = after(noon, -hours(50)).toISOString();
const denied = async () => Promise.reject(Object.assign(new Error("no"), { name: "AccessDeniedException" }));
const untried = { foreignChange: "not tried", ownChange: "not tried" };
const toAnyone = { Statement: [{ Effect: "Allow", Principal: "*", Action: "sqs:*" }] };
const failing = (error: Error) => () => Promise.reject(error);
const sends = (statement: object) => queueIs("launches", { policy: { Statement: [statement] } });
const installedAt = (at: Date) => async (role: string) => (role.endsWith("/cluster-access") ? at : undefined);
const clockIs = (off: Duration): Answers => ({ clock: new VirtualClock(after(noon, off)) });
const noneOfTheRights = { missingRights: ["patch nodes"], foreignChange: "admitted" };
const swept = (ago: Duration) => inRecord({ lastSweep: after(noon, -ago).toISOString() });
const manifestIs = (...states: AccessFinding["state"][]): Answers => ({
  compareManifest: async () =>
    states.map((state, n) => ({ kind: ["ClusterRole", "Policy"][n] ?? "", state })),
});
const buffers = (count: number): Answers => ({
  findCapacityBuffers: async () => many(count, (n) => `web/${n}`),
});
const { nextLook: _, ...beginning } = aHeldScope;
const nextLookIn = (ahead: Duration) =>
  inRecord({ holds: [{ ...aHeldScope, nextLook: after(noon, ahead) }] });
const observing = functionsHave({ MODE: "observe" });
const lateEverything = { holds: [overdue], lastSweep: after(noon, -hours(1)).toISOString() };
/** What nothing that should have ended follows from. */
const causes = [
  "table is gone",
  "schedule group is gone",
  "wakes the sweep",
  "entry is gone",
  "login",
  "a right",
  "policy is missing",
];
const consequences = brokenLinks
  .filter(([how]) => causes.some((one) => how.includes(one)))
  .map(
    ([how, { check, ...rest }]): Row => [
      `nothing ends in time, and ${how}`,
      { ...rest, check: { ...(typeof check === "object" && check), record: lateEverything } },
    ],
  );
/** What is printed in other cases, which may be several findings or none. */
export const others: readonly Row[] = [
  ...consequences,
  [
    "rights, policy and entries are missing",
    { accessGroups: withoutHold, ...insideCluster(noneOfTheRights) },
  ],
  ["rights and policy are missing", insideCluster(noneOfTheRights)],
  ["neither is as in the manifest", insideCluster(noneOfTheRights), manifestIs("different", "missing")],
  [
    "the policy is not as in the manifest",
    insideCluster({ foreignChange: "admitted" }),
    manifestIs("missing"),
  ],
  ["policies are unknown", {}, manifestIs("unknown to this cluster", "unknown to this cluster")],
  ["role and policy are as in the manifest", {}, manifestIs("right")],
  [
    "the record can be read by no one",
    { tableStatus: none, ...inRecord({ works: false, because: "no right" }) },
  ],
  [
    "the cluster is private, and the login fails",
    {
      ...endpointIs({ endpointPublicAccess: false }),
      ...insideCluster({ works: false, because: "no answer" }),
    },
  ],
  [
    "a function is turned off, and does not answer",
    {
      ...functionIs("control", { reservedConcurrency: 0 }),
      check: () => {
        throw new Error("throttled");
      },
    },
  ],
  ["the code is older", { check: { version: "0.0.1" } }],
  ["the functions' code is mixed", { checks: { hold: { version: "0.0.1" } } }],
  ["the probe is lost", {}, { probe: () => null }],
  ["the probe is slow", {}, { probe: () => ({ ...aTrip(), queuedAt: after(noon, seconds(12)) }) }],
  ["no function knows its environment", { functionOf: async (part) => aFunction(part, { env: {} }) }],
  [
    "two functions are missing",
    { functionOf: async (part) => (part.startsWith("h") || part === "sweep" ? undefined : aFunction(part)) },
  ],
  ["all functions are missing", { functionOf: none, holders: none }],
  ["there is no other holder", { functionOf: none, holders: async () => [] }],
  ["there are other holders", { functionOf: none, holders: async () => ["a", "b"] }],
  ["an update is under way", functionIs("hold", { lastUpdate: "InProgress" })],
  ["a function was not used for weeks", functionIs("hold", { state: "Inactive" })],
  ["roles are in another group", { accessGroups: async () => ["strangers"] }],
  ["a deployment is under way", { adminSince: installedAt(after(noon, -minutes(14))) }],
  ["a deployment takes 15 minutes", { adminSince: installedAt(after(noon, -minutes(15))) }],
  ["only receiving is allowed", sends({ Effect: "Allow", Principal: "*", Action: "sqs:ReceiveMessage" })],
  ["sending is denied", sends({ Effect: "Deny", Principal: "*", Action: "sqs:*" })],
  [
    "another service may send",
    sends({ Effect: "Allow", Principal: { Service: "s3.amazonaws.com" }, Action: "sqs:*" }),
  ],
  ["the mapping is being made", { mapping: async () => ({ id: "m", state: "Creating", lastResult: "ok" }) }],
  [
    "no queue has a dead-letter queue",
    {
      ...queueIs("launches", { deadLetterArn: "" }),
      ...ruleIs({ targets: [{ arn: aQueue("launches").arn }] }),
    },
  ],
  [
    "a rule cannot be enabled",
    { ...ruleIs({ isEnabled: false }), enableRule: failing(new Error("not allowed")) },
  ],
  [
    "answers cannot be read",
    {
      alarms: failing(new TypeError("x")),
      mapping: failing(new SyntaxError("x")),
      role: failing(new RangeError("x")),
      tableStatus: failing(new Error("away")),
    },
  ],
  ["a name is long", { scheduleGroup: async () => "x".repeat(990) }],
  ["this machine's clock is ahead", {}, clockIs(minutes(3))],
  ["this machine's clock is behind", {}, clockIs(-minutes(3))],
  ["this machine's clock is ahead as far as is tolerable", {}, clockIs(seconds(30))],
  ["the cluster's clock is behind", insideCluster({ clusterTime: after(noon, -minutes(5)) })],
  [
    "the cluster's clock is ahead as far as is tolerable",
    insideCluster({ clusterTime: after(noon, seconds(31)) }),
  ],
  [
    "the cluster's clock is behind as far as is tolerable",
    insideCluster({ clusterTime: after(noon, -seconds(30)) }),
  ],
  [
    "the first sweep is due soon",
    {
      functionOf: async (part) => aFunction(part, { changedAt: after(noon, -minutes(4)) }),
      ...inRecord({ lastSweep: undefined }),
    },
  ],
  [
    "the first sweep is late",
    {
      functionOf: async (part) => aFunction(part, { changedAt: after(noon, -minutes(8)) }),
      ...inRecord({ lastSweep: undefined }),
    },
  ],
  ["a sweep has been missed", swept(minutes(12))],
  ["sweeps are rare", functionsHave({ SWEEP_EVERY: "1h" })],
  ["a hold ends", heldUntil(after(noon, -minutes(2)))],
  ["a hold ends soon", heldUntil(after(noon, minutes(2)))],
  ["a NodePool's template protects nothing", {}, nodePool({}, { "karpenter.sh/do-not-disrupt": "4h" })],
  [
    "five nodes are not protected",
    insideCluster({ ineffective: many(5, (n) => ({ node: `i${n}`, value: "1h" })) }),
  ],
  ["there are CapacityBuffers", {}, buffers(5)],
  ["there are many CapacityBuffers", {}, buffers(6)],
  ["a function is pending", functionIs("hold", { state: "Pending" })],
  ["a function cannot start", functionIs("hold", { state: "Failed" })],
  ["the table is not ready", { tableStatus: async () => "CREATING" }],
  [
    "an alarm is on for a while",
    alarmsWith(anAlarm("sweep-silent", "ALARM", { since: after(noon, -hours(3)) })),
  ],
  ["a hold is being released", inRecord({ holds: [{ ...aHeldScope, state: "releasing" }] })],
  ["there is no node", insideCluster({ ...untried, nodes: 0 })],
  ["no node could be tried", insideCluster({ ...untried, said: "no" })],
  ["nodes may not be listed", insideCluster({ ...untried, nodes: 0, missingRights: ["list nodes"] })],
  ["rights are needless", insideCluster({ needlessRights: ["delete nodes", "list pods"] })],
  [
    "many nodes are not right",
    insideCluster({
      stuck: many(20, (n) => ({ node: `s${n}`, since })),
      userHeld: many(6, (n) => ({ node: `u${n}`, since, ...(n > 1 && { by: "kubectl" }) })),
      ineffective: many(7, (n) => ({ node: `i${n}`, value: "1h" })),
    }),
  ],
  [
    "a new hold is not in the record yet",
    {
      ...inRecord({ holds: [beginning] }),
      schedules: async () => [aSchedule({ name: scheduleName(beginning.id, beginning.until) })],
    },
  ],
  ["a new hold has no one-shot", { ...inRecord({ holds: [beginning] }), schedules: async () => [] }],
  ["a one-shot fires just now", { ...nextLookIn(-minutes(1)), schedules: async () => [] }],
  ["a one-shot was due and set no other", nextLookIn(-minutes(20))],
  [
    "a one-shot was due, is gone and set no other",
    { ...nextLookIn(-minutes(20)), schedules: async () => [] },
  ],
  [
    "an alarm of another cluster is on",
    {
      alarms: async (names) =>
        [...(await anAccount().alarms(names)), anAlarm("eu-sweep-silent", "ALARM")].filter(({ name }) =>
          names.includes(name),
        ),
    },
  ],
  [
    "no alarms are there, and none were asked for",
    { ...functionsHave({ MONITORING: "none" }), alarms: async () => [] },
  ],
  [
    "another annotation is put",
    {
      ...functionsHave({ HOLD_ANNOTATION: "example.com/stay" }),
      ...insideCluster({ foreignChange: "admitted" }),
    },
  ],
  [
    "the holder observes, and may not change nodes",
    { ...observing, ...insideCluster({ foreignChange: "refused", ownChange: "refused" }) },
  ],
  [
    "the holder observes, and may change nodes still",
    { ...observing, ...insideCluster({ needlessRights: ["patch nodes"], foreignChange: "admitted" }) },
  ],
  ["the holder observes, and its role is not as in the manifest", observing, manifestIs("different")],
  ["rules may not be read", { launchRule: denied }],
  [
    "credentials have expired",
    { identity: failing(Object.assign(new Error("expired"), { name: "ExpiredToken" })) },
  ],
  ["credentials may not ask who they are", { identity: denied }],
  ["AWS cannot be reached", { identity: failing(Object.assign(new Error("no"), { code: "ENOTFOUND" })) }],
  [
    "one of two fixes fails",
    {
      ...{ ...ruleIs({ isEnabled: false }), enableRule: failing(new Error("not allowed")) },
      mapping: async () => ({ id: "m", state: "Disabled", lastResult: "" }),
    },
  ],
  [
    "the mapping has trouble",
    { mapping: async () => ({ id: "m", state: "Enabled", lastResult: "PROBLEM" }) },
  ],
  ["anyone may send to the queue", queueIs("launches", { policy: toAnyone })],
  ["there is no dead-letter queue", ruleIs({ targets: [{ arn: aQueue("launches").arn }] })],
  ["little may be read", { role: denied, alarms: denied, tableStatus: denied, launchRule: denied }],
];
