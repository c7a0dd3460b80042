import type { StatusAnswer } from "../../cli/answers.ts";
import { after, minutes } from "../../lambda/core/duration.ts";
import type { ScopeStatus } from "../../lambda/core/operate/status.ts";
import type { PastHold } from "../../lambda/core/record.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import { readSettings } from "../../lambda/settings.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const soon = (n: number) => after(noon, minutes(n));

const scope: Required<ScopeStatus> = {
  ...{ scope: wholeCluster, state: "held", because: "x", holdId: "h", since: soon(-9), until: soon(60) },
  ...{ launchesUntil: soon(20), launches: 3, extensions: 2, capped: true },
  requests: [{ name: "r", cause: "person", reason: "test", since: soon(-5), until: soon(60) }],
  goes: [{ name: "a", isLetGo: false, dueAt: soon(9), because: "superfluous for 1m" }],
  paid: { superfluous: minutes(7), letGo: 2, spared: 3, evictionsSpared: 4 },
  ...{ nodesHeld: 5, nodes: ["a"], nodesObserved: 4, drifted: 2, isAwaiting: true, nextLook: soon(20) },
  observed: { removed: 3, evicted: 5, uncounted: 1, nodeTime: minutes(40), relaunched: 2 },
};
/** A status in which every field has a value, also those that may be missing. */
export const wholeStatus: Required<StatusAnswer> = {
  ...{ cluster: "prod", at: noon, version: "1", toHold: "run" },
  rules: readSettings({ cluster: "prod", hold: "20m", nodePools: "a,!b" }),
  ...{ scopes: [scope], nodesUserHeld: 1, nodesOrphaned: 1, lastSweep: soon(-3), limits: ["l"] },
};
/** The same of a hold in history. */
export const wholeHold: Required<PastHold> = {
  ...{
    scope: wholeCluster,
    id: holdId(1),
    startedAt: soon(-30),
    startedBecause: "launch",
    launches: { a: 2 },
  },
  ...{ extensions: 2, nodes: 3, capped: true, requests: ["test"] },
  ...{ superfluous: minutes(7), letGo: 2, spared: 3, evictionsSpared: 4 },
  ...{ endedAt: soon(-10), endedBecause: "over", observed: scope.observed },
};
