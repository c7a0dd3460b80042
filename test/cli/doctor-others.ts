import { hours, minutes } from "../../lambda/core/duration.ts";
import {
  ago,
  alarmIs,
  buffers,
  clusterIs,
  denied,
  endpointIs,
  failing,
  functionIs,
  functionsAre,
  functionsHave,
  gone,
  groupsOfHold,
  insideCluster,
  leavesOut,
  manifestIs,
  many,
  mappingIs,
  named,
  nodePool,
  policyHas,
  queueIs,
  refusedTo,
  ruleIs,
  schedulesAre,
  withRules,
} from "./differing.ts";
import { type Row, toEvents } from "./doctor-damage.ts";
import { ofHolds } from "./doctor-holds.ts";
import { aFunction, aQueue } from "./healthy-account.ts";

const account = { "aws:SourceAccount": "123456789012" };
const noLogin = { checks: { hold: { cluster: { works: false, because: "no answer" } } } };
const untried = { foreignChange: "not tried", ownChange: "not tried" };
const unlimited = { foreignChange: "admitted", missingRights: ["patch nodes"] };
/** What is printed in other cases, which may be several findings or none. */
export const others: readonly Row[] = [
  ...ofHolds,
  ["credentials have expired", { identity: failing(named("ExpiredToken", "expired")) }],
  ["credentials may not ask who they are", { identity: denied }],
  [
    "two functions are missing",
    { functionOf: async (part) => (part === "hold" || part === "sweep" ? undefined : aFunction(part)) },
  ],
  ...(["release", "sweep", "control"] as const).map(
    (part): Row => [`the ${part} function alone is missing`, functionIs(part)],
  ),
  ["all functions are missing", { functionOf: gone }],
  [
    "a function is turned off, and does not answer",
    {
      ...functionIs("control", { reservedConcurrency: 0 }),
      checks: {
        control: () => {
          throw new Error("throttled");
        },
      },
    },
  ],
  ["a function was not used for weeks", functionIs("hold", { state: "Inactive" })],
  ["a function is pending", functionIs("hold", { state: "Pending" })],
  ["a sweep runs once at a time", functionIs("sweep", { reservedConcurrency: 1 })],

  ["functions have lost their environment", functionsAre({ env: {} })],
  ["no function installs the access", functionIs("cluster-access")],

  ["the mapping is being enabled", mappingIs("Enabling", "")],
  ["the mapping is being changed", mappingIs("Updating", "No records processed")],
  ["the mapping is being made", mappingIs("Creating", "User action")],
  ...["sqs:SendMessage", "sqs:Send*", "sqs:*", "*"].map(
    (Action): Row => [
      `anyone may ${Action} with the queue`,
      policyHas({ Effect: "Allow", Principal: "*", Action }),
    ],
  ),
  [
    "the queue's policy denies what is not encrypted",
    policyHas(
      { Effect: "Allow", Principal: { AWS: ["*"] }, Action: "sqs:*" },
      {
        Effect: "Deny",
        Principal: "*",
        Action: "sqs:*",
        Condition: { Bool: { "aws:SecureTransport": "false" } },
      },
    ),
  ],
  [
    "the queue's policy has one statement, for this account",
    queueIs("launches", { policy: { Statement: { ...toEvents, Condition: { StringEquals: account } } } }),
  ],
  ["many launches wait, but not too many", queueIs("launches", { waiting: 999, inFlight: 10 })],
  [
    "the release function may not queue work",
    refusedTo("/release", "sqs:SendMessage", aQueue("launches").arn),
  ],
  [
    "no queue has a dead-letter queue",
    { ...queueIs("launches", { deadLetterArn: "" }), ...ruleIs({ deadLetterArn: "" }) },
  ],
  [
    "a rule cannot be enabled",
    { ...ruleIs({ isEnabled: false }), enableRule: failing(new Error("not allowed")) },
  ],
  [
    "one of two fixes fails",
    { ...ruleIs({ isEnabled: false }), enableRule: failing(new TypeError("x")), ...mappingIs("Disabled") },
  ],
  ["there are many foreign schedules", schedulesAre(...many(6, (n) => ({ name: `foreign-${n}` })))],
  ["there are more schedules than are read", schedulesAre(...many(1_000, () => ({})))],
  [
    "a name is long",
    {
      trust: async () => "scheduler.amazonaws.com",
      ...functionsHave({ SCHEDULE_ROLE_ARN: `role/path/${"x".repeat(1_001)}` }),
    },
  ],
  ["the probe is lost", {}, { probe: () => null }],

  ["the holder has a name of its own", functionsHave({ CLUSTER: "staging" })],
  [
    "a holder with a name of its own has lost its rule, its entries and the actions of its alarms",
    {
      ...functionsHave({ CLUSTER: "staging" }),
      ...ruleIs(undefined),
      ...alarmIs("OK", { notifies: false }),
      accessGroups: gone,
    },
  ],
  ["rights, policy and an entry are missing", { ...groupsOfHold(), ...insideCluster(unlimited) }],
  [
    "a cluster without access entries has none of ours",
    { ...clusterIs({ authenticationMode: "CONFIG_MAP" }), ...groupsOfHold() },
  ],
  [
    "a function outside of the VPC cannot log in",
    { functionOf: async (part) => aFunction(part, { inVpc: part !== "hold" }), ...noLogin },
  ],
  ["a function without an access entry cannot log in", { ...groupsOfHold(), ...noLogin }],
  ["rights and policy are missing", insideCluster(unlimited)],
  ["neither is as in the manifest", insideCluster(unlimited), manifestIs("different", "missing")],
  [
    "the policy is not as in the manifest",
    insideCluster({ foreignChange: "admitted" }),
    manifestIs("right", "missing"),
  ],
  ["role and policy are as in the manifest", {}, manifestIs("right", "right")],
  ["the role is different, and policies are unknown", {}, manifestIs("different", "unknown to this cluster")],
  ["the role may not be read, and the policy is different", {}, manifestIs("unread", "different")],
  ["policies are unknown", {}, manifestIs("right", "unknown to this cluster")],
  [
    "the cluster is private, and the login fails",
    {
      ...endpointIs({ endpointPublicAccess: false }),
      ...insideCluster({ works: false, because: "no answer" }),
    },
  ],
  ["there is no node", insideCluster({ ...untried, nodes: 0 })],
  ["another change could not be tried", insideCluster({ foreignChange: "not tried", said: "conflict" })],
  ["our own mark could not be tried", insideCluster({ ownChange: "not tried", said: "conflict" })],
  ["functions saw different launches", { checks: { hold: { launches: { recent: 3 } } } }],
  [
    "another annotation is put",
    withRules({ holdAnnotation: "example.com/stay" }, { foreignChange: "admitted" }),
  ],
  ["the time of a hold is constant", withRules({ auto: false }, { missingRights: ["list nodeclaims"] })],
  [
    "the holder observes, and may not change nodes",
    withRules({ mode: "observe" }, { foreignChange: "refused", ownChange: "refused" }),
  ],
  [
    "the holder observes, and may change nodes still",
    withRules(
      { mode: "observe", nodeEvents: true },
      { needlessRights: ["patch nodes"], foreignChange: "admitted" },
    ),
  ],
  [
    "many nodes are not right",
    insideCluster({
      stuck: many(6, (n) => ({ node: `s${n}`, since: ago(hours(50)) })),
      userHeld: many(2, (n) => ({ node: `u${n}`, since: ago(hours(50)), ...(n > 0 && { by: "kubectl" }) })),
      ineffective: many(5, (n) => ({ node: `i${n}`, value: "1h" })),
    }),
  ],
  ["a NodePool of other clusters is left out, too", leavesOut("gpu"), nodePool({})],
  ["a NodePool that is left out", leavesOut("batch"), nodePool({ consolidateAfter: "Never" })],
  [
    "a NodePool is consolidated in windows, and the time of a hold is constant",
    withRules({ auto: false }),
    nodePool({ budgets: [{ nodes: "0", schedule: "6 * * * *", duration: "54m" }] }),
  ],
  [
    "empty nodes of a NodePool go at any time",
    {},
    nodePool({
      budgets: [{ nodes: "0", schedule: "6 * * * *", duration: "54m", reasons: ["Underutilized"] }],
    }),
  ],
  ["there are CapacityBuffers", {}, buffers(2)],

  ["an alarm has just been made", alarmIs("INSUFFICIENT_DATA", { since: ago(minutes(29)) })],
  ["holds have no cap", functionsHave({ MAX_HOLD: "0s" })],
  [
    "no alarms are there, and none were asked for",
    { ...functionsHave({ MONITORING: "none" }), alarms: async () => [], unsent: denied },
  ],
  [
    "rules may not be read, and launches are in a dead-letter queue",
    { ruleTo: denied, ...queueIs("dead-letters", { waiting: 2 }) },
  ],
  [
    "answers cannot be read",
    {
      alarms: failing(new TypeError("x")),
      mapping: failing(new SyntaxError("x")),
      trust: failing(new RangeError("x")),
      schedules: failing(new Error("away")),
    },
  ],
];
