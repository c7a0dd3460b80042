import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import {
  adminSince,
  ago,
  alarmIs,
  cappedOn,
  functionIs,
  includes,
  inRecord,
  insideCluster,
  leavesOut,
  manifestIs,
  mappingIs,
  nodePool,
  ownIsRefused,
  queueIs,
  withRules,
} from "./differing.ts";
import { type Row, silent } from "./doctor-damage.ts";
import { anAccount } from "./healthy-account.ts";

const inWindows = { nodes: "0", schedule: "6 * * * *", duration: "54m" };

/** Each is one warning. */
export const warnings: readonly Row[] = [
  ["an update is under way", functionIs("hold", { lastUpdate: "InProgress" })],
  ["a function that may run once at a time", functionIs("hold", { reservedConcurrency: 1 })],
  ["a function that may not be invoked", { checks: { sweep: silent("AccessDeniedException") } }],
  ["older code", { check: { version: "0.0.1" } }],
  ["letters in a dead-letter queue", queueIs("undelivered", { waiting: 3 })],
  ["a mapping whose last result is a problem", mappingIs("Enabled", "PROBLEM: Function call failed")],
  ["a deployment under way", adminSince(ago(minutes(14)))],
  ["needless rights", insideCluster({ needlessRights: ["delete nodes", "list events"] })],
  [
    "missing rights to list pods and NodeClaims",
    insideCluster({ missingRights: ["list pods", "list nodeclaims"] }),
  ],
  [
    "nodeEvents without the right to write Events",
    withRules({ nodeEvents: true }, { missingRights: ["create events"] }),
  ],
  ["an old cluster without policies", insideCluster({ foreignChange: "admitted", kubernetes: "v1.29.4" })],
  [
    "a pause",
    inRecord({
      pauses: [{ scope: "cluster", since: noon, until: after(noon, hours(90)), because: "upgrade" }],
    }),
  ],
  [
    "no sweep since the last deployment",
    { ...functionIs("sweep", { changedAt: ago(minutes(12)) }), ...inRecord({ lastSweep: undefined }) },
  ],
  ["an alarm that is on", alarmIs("ALARM", { since: ago(hours(3)) })],
  ["an alarm without data", alarmIs("INSUFFICIENT_DATA", { since: ago(minutes(30)) })],
  ["an alarm without an action", alarmIs("OK", { notifies: false })],
  [
    "no alarm with an action",
    {
      alarms: async (names) => (await anAccount().alarms(names)).map((one) => ({ ...one, notifies: false })),
    },
  ],
  ["no alarms at all", { alarms: async () => [] }],
  [
    "a topic's key does not let CloudWatch in",
    {
      unsent: async (names) =>
        names
          .slice(0, 2)
          .map((name) => ({ name, why: `Failed to execute action arn:topic. Received error: "no"` })),
    },
  ],
  ["holds that reached their cap on three days", withRules({ auto: false }), cappedOn(0, 1, 1.1, 6)],
  ["the caller may not read the roles", {}, manifestIs("unread", "unread")],
  ["the cluster does not know the caller", {}, ownIsRefused()],
  ["nodePools includes no NodePool that is there", includes("web"), nodePool({})],
  ["a NodePool that was renamed, and so is left out no longer", leavesOut("batch2"), nodePool({})],
  ["a NodePool that is never consolidated", {}, nodePool({ consolidateAfter: "Never" })],
  ["a NodePool with a budget of 0", withRules({ auto: false }), nodePool({ budgets: [{ nodes: "0" }] })],
  [
    "a NodePool that is consolidated in six minutes of an hour",
    {},
    nodePool({ budgets: [inWindows, { nodes: "10%" }] }),
  ],
  [
    "a NodePool of which empty nodes never go, and others in windows",
    {},
    nodePool({
      budgets: [
        { ...inWindows, reasons: ["Underutilized"] },
        { nodes: "0", reasons: ["Empty"] },
        { ...inWindows, reasons: ["Empty", "Drifted"] },
      ],
    }),
  ],
];
