import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { holderName, holdLabel, Karpenter, markValue } from "../../lambda/core/marks/keys.ts";
import type { ScopeStatus } from "../../lambda/core/operate/status.ts";
import type { Launch, NodeClaim, SeenNode } from "../../lambda/core/ports.ts";
import {
  emptyRecord,
  type Hold,
  noFigures,
  type PastHold,
  type Quiet,
  type Request,
  type ScopeRecord,
} from "../../lambda/core/record.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";

/** A hold that a launch started at noon. */
export const aHold = (about: Partial<Hold> = {}): Hold => ({
  id: holdId(1),
  startedAt: noon,
  because: "a node was launched in NodePool default",
  ...about,
});

/** The cluster's record before its first write, without a hold. */
export const aRecord = (about: Partial<ScopeRecord> = {}): ScopeRecord => ({
  ...emptyRecord(wholeCluster),
  ...about,
});

/** The cluster's record with a hold of 20 minutes, which one launch started at noon. */
export const aHeldRecord = (about: Partial<ScopeRecord> = {}): ScopeRecord =>
  aRecord({
    hold: aHold(),
    launchHold: { startedAt: noon, lastLaunchAt: noon },
    seen: { [aLaunch().instance]: noon },
    figures: { ...noFigures, launches: { default: 1 } },
    ...about,
  });

/** What a person asked for at noon, for an hour. */
export const aRequest = (about: Partial<Request> = {}): Request => ({
  name: "load-test",
  cause: "person",
  reason: "load test",
  at: noon,
  until: after(noon, hours(1)),
  ...about,
});

/** A pause for an upgrade, or a breather, for ten minutes. */
export const aQuiet = (kind: Quiet["kind"], about: Partial<Quiet> = {}): Quiet => ({
  kind,
  since: noon,
  until: after(noon, minutes(10)),
  because: kind === "paused" ? "upgrade" : "launches have held for as long as maxHold allows",
  ...about,
});

/** A hold of 20 minutes that started at noon and expired. */
export const aPastHold = (about: Partial<PastHold> = {}): PastHold => ({
  scope: wholeCluster,
  id: holdId(1),
  startedAt: noon,
  startedBecause: "a node was launched in NodePool default",
  ...noFigures,
  launches: { default: 1 },
  nodes: 3,
  endedAt: after(noon, minutes(20)),
  endedBecause: "the hold expired",
  ...about,
});

/** A launch at noon in NodePool `default`. */
export const aLaunch = (about: Partial<Launch> = {}): Launch => ({
  instance: "i-0123456789abcdef0",
  launchedAt: noon,
  nodePool: "default",
  ...about,
});

/** An old node of NodePool `default` without a mark. */
export const aNode = (name: string, about: Partial<SeenNode> = {}): SeenNode => ({
  name,
  uid: `uid-${name}`,
  createdAt: after(noon, -hours(24)),
  nodePool: "default",
  version: "1",
  writers: [],
  ...about,
});

/** The labels and annotations of a node that a hold has marked. */
export const markOf = (id = holdId(1)) => ({
  labels: { [holdLabel]: id },
  annotations: { [Karpenter.v1.annotation]: markValue },
  writers: [{ manager: holderName, annotations: [Karpenter.v1.annotation] }],
});

/** An old NodeClaim of NodePool `default`, whose node has joined. */
export const aClaim = (name: string, about: Partial<NodeClaim> = {}): NodeClaim => ({
  name: `claim-${name}`,
  nodePool: "default",
  createdAt: after(noon, -hours(24)),
  instance: `i-${name}`,
  node: name,
  ...about,
});

/** The default settings' rules for a cluster called `prod`. */
export const someRules = (about: Partial<Rules> = {}): Rules => ({
  cluster: "prod",
  mode: "hold",
  hold: minutes(20),
  auto: false,
  relaunchCost: minutes(5),
  evictionCost: minutes(3),
  maxHold: hours(2),
  breather: minutes(10),
  maxRequest: hours(24),
  initialDelay: 0,
  scope: "cluster",
  nodePools: { only: [], except: [] },
  holdAnnotation: Karpenter.v1.annotation,
  driftWait: 0,
  ...about,
});

/** A scope in which nothing is held. */
export const aScopeStatus = (about: Partial<ScopeStatus> = {}): ScopeStatus => ({
  ...{ scope: wholeCluster, state: "none", because: "no launch and no request counts" },
  ...{ requests: [], launches: 0, extensions: 0, capped: false },
  ...{ nodesHeld: 0, nodes: [], drifted: 0, isAwaiting: false },
  ...about,
});

/** What control answers to `status`, with one hold. */
export const aStatus = {
  cluster: "prod",
  at: noon,
  version: "1.0.0",
  rules: someRules(),
  scopes: [
    aScopeStatus({
      ...{ state: "held", because: "1 launch in NodePool default", launches: 1, nodesHeld: 1, nodes: ["a"] },
      ...{ since: noon, until: after(noon, minutes(20)), launchesUntil: after(noon, minutes(20)) },
    }),
  ],
  nodesUserHeld: 0,
  lastSweep: noon,
  limits: [],
};
