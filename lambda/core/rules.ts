import type { Duration } from "./duration.ts";
import { admits, type NodePoolFilter, nodePoolOf, poolScope, type Scope, wholeCluster } from "./scope.ts";

/** The settings that decisions depend on. */
export type Rules = Readonly<{
  cluster: string;
  /** `observe`: everything is decided and recorded, and no node is changed. */
  mode: "hold" | "observe";
  /** How long a launch protects the nodes of its scope; with `auto`, where pods may not be listed. */
  hold: Duration;
  /** A node goes when that pays; everything is released `maxHold` after the last launch. */
  auto: boolean;
  /** With `auto`, what the relaunch of a node and the eviction of a pod are worth, in time of that node. */
  relaunchCost: Duration;
  evictionCost: Duration;
  /** How long launches hold without a break; 0 means no cap. */
  maxHold: Duration;
  /** After a hold that reached its cap, launches start nothing for this long. */
  breather: Duration;
  /** The longest request of a person or an event. */
  maxRequest: Duration;
  initialDelay: Duration;
  scope: "cluster" | "nodepool";
  nodePools: NodePoolFilter;
  /** The annotation of a mark. */
  holdAnnotation: string;
  /** How long after it drifted launches hold a node at most; 0: not at all. */
  driftWait: Duration;
}>;

/** The scope that a launch in this NodePool protects. */
export const scopeOf = (rules: Pick<Rules, "scope">, nodePool: string): Scope =>
  rules.scope === "cluster" ? wholeCluster : poolScope(nodePool);

/** Whether the setting `scope` allows holds of this scope; false for records from before the setting changed. */
export const isOfRules = (rules: Pick<Rules, "scope">, scope: Scope): boolean =>
  rules.scope === "cluster" ? scope === wholeCluster : scope !== wholeCluster;

/** Why the settings let nothing hold this scope any more; undefined where something may. */
export function whyLeftOut(rules: Pick<Rules, "scope" | "nodePools">, scope: Scope): string | undefined {
  if (!isOfRules(rules, scope)) return "the setting scope has changed";
  const nodePool = nodePoolOf(scope);
  return nodePool === undefined || admits(rules.nodePools, nodePool)
    ? undefined
    : "the setting nodePools leaves it out";
}

/** Whether Events about nodes are written, for which the holder needs a right; one that observes changes no node. */
export const writesNodeEvents = ({ mode, nodeEvents }: NodeEventSettings): boolean =>
  mode === "hold" && nodeEvents;
export type NodeEventSettings = Readonly<{ mode: Rules["mode"]; nodeEvents: boolean }>;
