import { type Duration, seconds } from "../../lambda/core/duration.ts";
import { Karpenter, type KarpenterGeneration } from "../../lambda/core/marks/keys.ts";
import type { Verdict } from "../../simulator/invocation.ts";

/** The settings of a run. */
export type Setting = Readonly<{
  scope: "cluster" | "nodepool";
  maxHold: Duration;
  breather: Duration;
  initialDelay: Duration;
  /** The number of nodes at the start. */
  nodes: number;
  /** Whether the first node has an orphaned mark. */
  orphanedMark: boolean;
  /** Whether the settings exclude NodePool b. */
  leftOut: boolean;
  replacements: "ignore" | "hold";
  extendOn: "use" | "launches";
  letGo: "nothing" | "empty";
  driftWait: Duration;
  /** Whether the nodes at the start have NodeClaims. */
  claimed: boolean;
  /** The `relaunchCost` with `hold=auto`. */
  auto: Duration | null;
  /** What the cluster lets us read at the start. */
  readable: Readable;
}>;

/** One step of a run. A number that selects an item is taken modulo the number of items. */
export type Command =
  | Readonly<{
      do: "launch";
      pool: number;
      joinsAfter: Duration | null;
      eventAfter: Duration | null;
      duplicatesAfter: readonly Duration[];
      knownAfter: Duration;
      userHeld: boolean;
      foreign: boolean;
      /** Set when it replaces other nodes: how late Karpenter's event comes, or null for never. */
      replaces: Readonly<{ namedAfter: Duration | null }> | null;
      /** How late its NodeClaim has the instance. */
      instanceAfter: Duration;
    }>
  | (Readonly<{ do: "deliver"; first: number; count: number }> & Begun)
  | (Readonly<{ do: "fire"; which: number; early: boolean; isDuplicated: boolean }> & Begun)
  | (Readonly<{ do: "retry" }> & Begun)
  | (Readonly<{ do: "sweep" }> & Begun)
  | (Readonly<{ do: "ask"; request: unknown }> & Begun)
  | Readonly<{ do: "lose"; what: "schedule" | "message" | "event"; which: number }>
  | Readonly<{ do: "deploy"; change: Change }>
  | Readonly<{ do: "break"; what: Outage; which: number }>
  | Readonly<{ do: "repair" }>
  | Readonly<{ do: "spoil"; which: number }>
  | Readonly<{ do: "grant"; readable: Readable }>
  | Readonly<{ do: "use"; node: number }>
  | Readonly<{ do: "drift"; node: number }>
  | Readonly<{ do: "step"; who: number; times: number }>
  | Readonly<{ do: "finish"; who: number }>
  | Readonly<{ do: "crash"; who: number }>
  | Readonly<{ do: "fault"; who: number; verdict: Verdict }>
  | Readonly<{ do: "pass"; time: Duration }>
  | Readonly<{ do: "user"; node: number; action: UserAction }>;

/** The start of an invocation: its clock's offset, and whether it runs to its end at once. */
type Begun = Readonly<{ skew: Duration; atOnce: boolean }>;

/** New settings; running functions keep theirs. */
export type Change =
  | Readonly<{ scope: "cluster" | "nodepool" }>
  | Readonly<{ hold: Duration }>
  | Readonly<{ maxHold: Duration }>
  | Readonly<{ breather: Duration }>
  | Readonly<{ initialDelay: Duration }>
  | Readonly<{ leftOut: boolean }>
  | Readonly<{ replacements: "ignore" | "hold" }>
  | Readonly<{ extendOn: "use" | "launches" }>
  | Readonly<{ letGo: "nothing" | "empty" }>
  | Readonly<{ driftWait: Duration }>
  | Readonly<{ auto: Duration | null }>
  // With these two CloudFormation also removes the marks, beside functions that still use the former annotation.
  | Readonly<{ karpenter: KarpenterGeneration }>
  | Readonly<{ holdAnnotation: string }>;

/** The annotations of a run: those of Karpenter's generations, and one that the user chose. */
export const annotations: readonly string[] = [
  Karpenter.v1.annotation,
  Karpenter["v0.31"].annotation,
  "example.com/keep",
];

/** All; no pods; NodeClaims of Karpenter before v1.0, which do not record use; or nothing, without the rights. */
export type Readable = "all" | "no pods" | "no use" | "none";

/** A fault that lasts until it is repaired: the patches of one node, a service, or an API server that throttles. */
export type Outage =
  | "node"
  | "list"
  | "arm"
  | "enqueue"
  | "instances"
  | "remember"
  | "events"
  | "claims"
  | "pods"
  | "api";

export type UserAction =
  | "annotate true"
  | "annotate false"
  | "annotate otherwise"
  | "unannotate"
  | "unlabel"
  | "never"
  | "delete";

/** The largest offset of a function's clock. */
export const mostSkew = seconds(4);
