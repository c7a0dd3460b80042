import type { Duration } from "../../lambda/core/duration.ts";
import { seconds } from "../../lambda/core/duration.ts";
import type { KarpenterGeneration } from "../../lambda/core/marks/keys.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import type { Verdict } from "../../simulator/invocation.ts";

/** The settings of a run, and the cluster at its start. */
export type Setting = Deployed &
  Readonly<{
    karpenter: KarpenterGeneration;
    /** How many nodes there are. */
    nodes: number;
    /** Whether the first of them has the mark of a hold that no record names. */
    orphanedMark: boolean;
    claims: Claims;
    /** `hold=auto`; only where NodeClaims can be read all the time, since it holds like a constant hold without them. */
    auto: boolean;
    /** Karpenter takes a node when nothing has changed on it for so long. */
    consolidateAfter: Duration;
  }>;

/** The settings that a deployment may change. */
export type Deployed = Readonly<
  Pick<
    Rules,
    "scope" | "mode" | "hold" | "maxHold" | "breather" | "maxRequest" | "initialDelay" | "driftWait"
  >
> &
  Readonly<{
    /** Whether the settings leave out NodePool b. */
    leftOut: boolean;
  }>;

/** Whether the cluster lets us list NodeClaims; "none": it has none. */
export type Claims = "readable" | "refused" | "none";

/** One step of a run. A number that selects an item is taken modulo the number of items. */
export type Command =
  | Launch
  | (Readonly<{ do: "deliver"; first: number; count: number }> & Begun)
  | (Readonly<{ do: "fire"; which: number; isEarly: boolean; isDuplicated: boolean }> & Begun)
  | (Readonly<{ do: "retry" }> & Begun)
  | (Readonly<{ do: "sweep" }> & Begun)
  | (Readonly<{ do: "ask"; request: Readonly<Record<string, unknown>> }> & Begun)
  | Readonly<{ do: "again"; which: number }>
  | (Readonly<{ do: "force"; saysWhen: boolean }> & Begun)
  | Readonly<{ do: "send"; hold: HoldMessage; duplicatesAfter: readonly Duration[] }>
  | Readonly<{ do: "lose"; what: "one-shot" | "message"; which: number }>
  | Readonly<{ do: "deploy"; change: Partial<Deployed> }>
  | Readonly<{ do: "break"; what: Outage; which: number; hangs: boolean }>
  | Readonly<{ do: "repair" }>
  | Readonly<{ do: "spoil"; which: number }>
  | Readonly<{ do: "grant"; claims: Claims }>
  | Readonly<{ do: "drift"; node: number }>
  | Readonly<{ do: "pods"; node: number; pods: Pods }>
  | Readonly<{ do: "take" }>
  | Readonly<{ do: "remove"; node: number; drainsFor: Duration }>
  | Readonly<{ do: "user"; node: number; action: UserAction }>
  | Readonly<{ do: "step"; who: number; times: number; which: number }>
  | Readonly<{ do: "finish"; who: number }>
  | Readonly<{ do: "crash"; who: number }>
  | Readonly<{ do: "fault"; who: number; verdict: Verdict }>
  | Readonly<{ do: "pass"; time: Duration }>;

/** What runs on a node: nothing, four pods that may be moved, one that may not, one of a Job, or many that fit nowhere else. */
export type Pods = "none" | "movable" | "fixed" | "job" | "many" | "full";

export type Launch = Readonly<{
  do: "launch";
  pool: number;
  count: number;
  joinsAfter: Duration | null;
  eventAfter: Duration | null;
  duplicatesAfter: readonly Duration[];
  knownAfter: Duration;
  claimedAfter: Duration;
  /** The NodePool's template has the user's annotation. */
  isUserHeld: boolean;
  /** No node of Karpenter. */
  isForeign: boolean;
}>;

/** A request of an event or a window, as the launch queue carries it; it began that long ago. */
export type HoldMessage = Readonly<{
  cause: "event" | "window";
  name: string;
  for: string;
  scope: string;
  ago: Duration;
}>;

/**
 * How an invocation begins: its clock's offset, how long each of its calls takes, and how far it runs at once: to its end,
 * to its list of nodes, so that the records it has read may be older, or nowhere.
 */
export type Begun = Readonly<{
  skew: Duration;
  pace: Duration;
  atOnce: "all" | "all but the list" | "nothing";
}>;

/** What fails, or is never answered, until it is repaired: a call, the patches of one node or of half of them, or the cluster. */
export type Outage =
  | "half"
  | "node"
  | "cluster"
  | "list"
  | "claims"
  | "pods"
  | "arm"
  | "enqueue"
  | "instances"
  | "remember"
  | "write";

export type UserAction =
  | "apply true"
  | "annotate true"
  | "annotate false"
  | "unannotate"
  | "unlabel"
  | "never";

/** The largest offset of a function's clock. */
export const mostSkew = seconds(60);
/** The largest one on a good day. */
export const goodSkew = seconds(2);
