import { after, hours, minutes } from "../../lambda/core/duration.ts";
import {
  emptyRecord,
  type Hold,
  type PastHold,
  type ScopeRecord,
  type Silence,
} from "../../lambda/core/holds/hold.ts";
import type { Launch } from "../../lambda/core/ports.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";

/** A hold of 20 minutes, started at noon by one launch. */
export const aHold = (about: Partial<Hold> = {}): Hold => ({
  id: holdId(1),
  state: "held",
  startedAt: noon,
  expiresAt: after(noon, minutes(20)),
  causedAt: noon,
  startedBecause: "a node was launched in NodePool default",
  causes: { launches: { default: 1 } },
  launches: 1,
  extensions: 0,
  nodes: 0,
  capped: false,
  ...about,
});

/** The cluster's record before its first write, without a hold. */
export const aRecord = (about: Partial<ScopeRecord> = {}): ScopeRecord => ({
  ...emptyRecord(wholeCluster),
  ...about,
});

/** A pause for an upgrade, or a breather. */
export const aSilence = (kind: Silence["kind"], since = noon): Silence => ({
  kind,
  since,
  because: kind === "paused" ? "upgrade" : "a hold reached its cap",
});

/** A hold of 20 minutes that started at noon and expired. */
export const aPastHold = (about: Partial<PastHold> = {}): PastHold => ({
  scope: wholeCluster,
  id: holdId(1),
  startedAt: noon,
  startedBecause: "a node was launched in NodePool default",
  causes: { launches: { default: 1 } },
  expiresAt: after(noon, minutes(20)),
  endedAt: after(noon, minutes(20)),
  endedBecause: "the hold expired",
  launches: 1,
  extensions: 0,
  nodes: 3,
  capped: false,
  ...about,
});

/** A launch at noon in NodePool `default`. */
export const aLaunch = (about: Partial<Launch> = {}): Launch => ({
  instance: "i-0123456789abcdef0",
  launchedAt: noon,
  nodePool: "default",
  ...about,
});

/** The default settings' rules for a cluster called `prod`. */
export const someRules = (about: Partial<Rules> = {}): Rules => ({
  cluster: "prod",
  hold: minutes(20),
  auto: false,
  relaunchCost: minutes(10),
  maxHold: hours(2),
  breather: minutes(10),
  initialDelay: 0,
  scope: "cluster",
  nodePools: { only: [], except: [] },
  replacements: "ignore",
  extendOn: "use",
  letGo: "nothing",
  driftWait: minutes(20),
  ...about,
});

/** What control answers to `status`, with one hold. */
export const aStatus = {
  cluster: "prod",
  at: noon,
  version: "1.0.0",
  rules: {
    hold: 1,
    auto: false,
    relaunchCost: 1,
    maxHold: 1,
    breather: 1,
    initialDelay: 0,
    scope: wholeCluster,
  },
  scopes: [
    {
      ...{ scope: wholeCluster, state: "held", because: "x", since: noon, until: noon },
      ...{ nodesHeld: 1, nodes: ["a"], awaited: 0 },
    },
  ],
  nodesUserHeld: 0,
  lastSweep: noon,
  limits: [],
};
