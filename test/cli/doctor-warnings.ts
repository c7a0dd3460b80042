import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import {
  adminSince,
  ago,
  alarmIs,
  buffers,
  cappedOn,
  denied,
  functionIs,
  functionsHave,
  holding,
  includes,
  inRecord,
  insideCluster,
  leavesOut,
  manifestIs,
  many,
  mappingIs,
  nodePool,
  ownIsRefused,
  policyHas,
  queueIs,
  refusedTo,
  schedulesAre,
  silent,
  swept,
  withRules,
} from "./differing.ts";
import { type Row, toEvents } from "./doctor-broken.ts";
import { anAccount, aQueue } from "./healthy-account.ts";

const inWindows = { nodes: "0", schedule: "6 * * * *", duration: "54m" };
const old = { node: "n", since: ago(hours(50)) };

/** What each link warns of, once. */
export const warnings: Readonly<Record<string, readonly Row[]>> = {
  credentials: [["they may not ask who they are", { identity: denied }]],
  functions: [
    ["an update is under way", functionIs("hold", { lastUpdate: "InProgress" })],
    ["one is pending", functionIs("hold", { state: "Pending" })],
    ["one may run once at a time", functionIs("hold", { reservedConcurrency: 1 })],
  ],
  code: [
    ["a function may not be invoked", { checks: { sweep: silent("AccessDeniedException") } }],
    ["it is older", { check: { version: "0.0.1" } }],
  ],
  mapping: [["its last result is a problem", mappingIs("Enabled", "PROBLEM: Function call failed")]],
  "dead letters": [["there are some", queueIs("undelivered", { waiting: 3 })]],
  schedules: [["there are more than are read", schedulesAre(...many(1_000, () => ({})))]],
  admin: [["a deployment is under way", adminSince(ago(minutes(14)))]],
  manifest: [
    [
      "the caller may not read the roles",
      {},
      ownIsRefused(403, 'User "me" cannot get resource "clusterroles"'),
    ],
    ["the cluster does not know the caller", {}, ownIsRefused(401, "Unauthorized")],
    ["policies are unknown", {}, manifestIs("right", "unknown to this cluster")],
  ],
  rights: [
    ["some are needless", insideCluster({ needlessRights: ["delete nodes", "list events"] })],
    ["pods may not be listed", insideCluster({ missingRights: ["list pods", "list nodeclaims"] })],
    ["Events may not be written", withRules({ nodeEvents: true }, { missingRights: ["create events"] })],
  ],
  policy: [["an old cluster has none", insideCluster({ foreignChange: "admitted", kubernetes: "v1.29.4" })]],
  nodes: [
    ["some are stuck", insideCluster({ stuck: many(6, (n) => ({ ...old, node: `s${n}` })) })],
    ["their users hold some", insideCluster({ userHeld: [old, { ...old, by: "kubectl" }] })],
    ["an annotation protects nothing", insideCluster({ ineffective: [{ node: "n", value: "1h" }] })],
  ],
  holds: [
    [
      "there is a pause",
      inRecord({
        pauses: [{ scope: "cluster", since: noon, until: after(noon, hours(90)), because: "upgrade" }],
      }),
    ],
  ],
  cap: [["it was reached on three days", withRules({ auto: false }), cappedOn(0, 1, 1.1, 6)]],
  sweep: [
    [
      "none has run since the last deployment",
      { ...functionIs("sweep", { changedAt: ago(minutes(12)) }), ...inRecord({ lastSweep: undefined }) },
    ],
  ],
  nodepools: [
    ["none that is included is there", includes("web"), nodePool({})],
    ["one was renamed, and so is left out no longer", leavesOut("batch2"), nodePool({})],
    ["one is never consolidated", {}, nodePool({ consolidateAfter: "Never" })],
    ["one has a budget of 0", withRules({ auto: false }), nodePool({ budgets: [{ nodes: "0" }] })],
    [
      "one is consolidated in six minutes of an hour",
      {},
      nodePool({ budgets: [inWindows, { nodes: "10%" }] }),
    ],
  ],
  buffers: [["there are CapacityBuffers", {}, buffers(2)]],
  alarms: [
    ["one is on", alarmIs("ALARM", { since: ago(hours(3)) })],
    ["one has no data", alarmIs("INSUFFICIENT_DATA", { since: ago(minutes(30)) })],
    ["one has no action", alarmIs("OK", { notifies: false })],
    [
      "none has an action",
      {
        alarms: async (names) =>
          (await anAccount().alarms(names)).map((one) => ({ ...one, notifies: false })),
      },
    ],
    ["there are none", { alarms: async () => [] }],
  ],
  notifications: [
    [
      "a topic's key does not let CloudWatch in",
      { unsent: async ([name = ""]) => [{ name, why: "Failed to execute action arn:topic" }] },
    ],
  ],
};

/** What is as it should be, or nothing to repair. */
export const fine: readonly Row[] = [
  ["a function was not used for weeks", functionIs("hold", { state: "Inactive" })],
  ["a sweep runs once at a time", functionIs("sweep", { reservedConcurrency: 1 })],
  ["no function installs the access", functionIs("cluster-access")],
  ["the mapping is being enabled", mappingIs("Enabling", "")],
  ["the mapping is being made", mappingIs("Creating", "")],
  ["the mapping is being changed", mappingIs("Updating", "No records processed")],
  ["anyone may do anything with the queue", policyHas({ ...toEvents, Principal: "*", Action: "*" })],
  ["the queue's policy has one statement", queueIs("launches", { policy: { Statement: toEvents } })],
  ["many launches wait, but not too many", queueIs("launches", { waiting: 999, inFlight: 10 })],
  ["the release cannot queue work", refusedTo("/release", "sqs:SendMessage", aQueue("launches").arn)],
  ["role and policy are as in the manifest", {}, manifestIs("right", "right")],
  ["there is no node", insideCluster({ foreignChange: "not tried", ownChange: "not tried", nodes: 0 })],
  ["another change could not be tried", insideCluster({ foreignChange: "not tried", said: "conflict" })],
  ["our own mark could not be tried", insideCluster({ ownChange: "not tried", said: "conflict" })],
  ["functions saw different launches", { checks: { hold: { launches: { recent: 3 } } } }],
  [
    "the holder observes, and may not change nodes",
    withRules({ mode: "observe" }, { foreignChange: "refused", ownChange: "refused" }),
  ],
  ["a hold ends", holding({ until: ago(minutes(2)), nextLook: ago(minutes(2)) })],
  ["a hold ends soon", holding({ until: after(noon, minutes(2)), nextLook: after(noon, minutes(2)) })],
  [
    "a request lasts as long as maxRequest ever allows, which is less by now",
    holding({ until: after(noon, hours(2160) + minutes(2)), nextLook: after(noon, minutes(1)) }),
  ],
  ["a hold is being released", holding({ state: "releasing" })],
  ["a new hold has no time for the next look yet", holding({ nextLook: undefined }, {})],
  ["a sweep has been missed", swept(minutes(12))],
  ["sweeps are rare", { check: { rules: { sweepEvery: hours(1) }, record: { lastSweep: ago(hours(2)) } } }],
  ["the cap was reached on two days of the week", withRules({ auto: false }), cappedOn(1, 1.1, 2, 7, 8)],
  ["it was reached until holds were of hold=auto", {}, cappedOn(1, 2, 3)],
  ["it was reached, and holds have none now", withRules({ auto: false, maxHold: 0 }), cappedOn(1, 2, 3)],
  ["a NodePool of other clusters is left out, too", leavesOut("gpu"), nodePool({})],
  [
    "one of the NodePools that are included is there",
    withRules({ nodePools: { only: ["batch", "web"], except: [] } }),
    nodePool({}),
  ],
  ["a NodePool is left out", leavesOut("batch"), nodePool({ consolidateAfter: "Never" })],
  ["one is consolidated in windows", withRules({ auto: false }), nodePool({ budgets: [inWindows] })],
  [
    "empty nodes of a NodePool go at any time",
    {},
    nodePool({ budgets: [{ ...inWindows, reasons: ["Underutilized"] }] }),
  ],
  ["an alarm has just been made", alarmIs("INSUFFICIENT_DATA", { since: ago(minutes(29)) })],
  [
    "holds have no cap, and no alarm for it",
    {
      ...functionsHave({ MAX_HOLD: "0s" }),
      alarms: async (names) => anAccount().alarms(names.filter((name) => !name.endsWith("hold-over-cap"))),
    },
  ],
  [
    "no alarms are there, and none were asked for",
    { ...functionsHave({ MONITORING: "none" }), alarms: async () => [], unsent: denied },
  ],
];
