import { type Duration, hours } from "./duration.ts";
import { type NodePoolFilter, poolScope, type Scope, wholeCluster } from "./scope.ts";

/** The settings that decisions depend on. */
export type Rules = Readonly<{
  cluster: string;
  /** With `auto`, the length while nothing is learned. */
  hold: Duration;
  /** Each scope learns how long its holds last. */
  auto: boolean;
  /** What one needless relaunch of a node is worth, in time of that node. */
  relaunchCost: Duration;
  /** 0 means no cap. */
  maxHold: Duration;
  breather: Duration;
  initialDelay: Duration;
  scope: "cluster" | "nodepool";
  nodePools: NodePoolFilter;
  /** Whether launches that replace other nodes start and extend holds, too. */
  replacements: "ignore" | "hold";
  /** What extends a hold: use of the nodes launched for it and launches, or launches alone. */
  extendOn: "use" | "launches";
  /** Which nodes are let go by themselves, before their hold ends. */
  letGo: "nothing" | "empty";
  /** How long a drifted node is held at most; 0: not at all. */
  driftWait: Duration;
}>;

/** No hold lasts longer than this after a launch or a use, whatever was learned. */
export const longestHold = ({ hold, auto, maxHold }: Rules): Duration => {
  if (!auto) return hold;
  return maxHold > 0 ? Math.min(maxHold, hours(24)) : hours(24);
};

/** The scope that a launch in this NodePool protects. */
export const scopeOf = (rules: Rules, nodePool: string): Scope =>
  rules.scope === "cluster" ? wholeCluster : poolScope(nodePool);

/** Whether the setting `scope` allows holds of this scope; false for holds from before the setting changed. */
export const isKept = (rules: Rules, scope: Scope): boolean =>
  rules.scope === "cluster" ? scope === wholeCluster : scope !== wholeCluster;

/** Whether a drifted node may have to be let go while its hold goes on. */
export const letsDriftGo = ({ driftWait, maxHold }: Rules): boolean => maxHold === 0 || driftWait < maxHold;
