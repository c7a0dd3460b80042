import type { Duration } from "./duration.ts";
import type { HoldChange } from "./holds/events.ts";
import type { PastHold, ScopeRecord } from "./holds/hold.ts";
import type { MetricName } from "./metrics.ts";
import type { Rules } from "./rules.ts";
import type { Scope } from "./scope.ts";

/** The present: one record a scope. Reads see every write that was acknowledged before. */
export interface Holds {
  find(scope: Scope): Promise<ScopeRecord | undefined>;
  all(): Promise<AllHolds>;
  /** Writes if the record still has the version that was read (0: none); false when another function wrote first. */
  write(record: ScopeRecord): Promise<boolean>;
}

/** Every record; `problems` are errors of items that are stored as records, but under a name that no scope has. */
export type AllHolds = Readonly<{ records: readonly ScopeRecord[]; problems: readonly Error[] }>;

/** The history, the last sweep, and answers to probes. */
export interface Journal {
  /** Keeps a hold that ended; the same hold again overwrites what was kept. */
  remember(hold: PastHold): Promise<void>;
  /** Newest first, of the last 90 days. */
  history(limit: number): Promise<readonly PastHold[]>;
  noteSweep(at: Date): Promise<void>;
  lastSweep(): Promise<Date | undefined>;
  answerProbe(probe: ProbeAnswer): Promise<void>;
  findProbe(id: string): Promise<ProbeAnswer | undefined>;
}

/** Reports what becomes of holds. It is not essential: no work waits for it, or fails with it. */
export interface HoldEvents {
  /** Keeps a change that was written, to be sent when the work is done. */
  note(change: HoldChange): void;
}

/** A probe's way through the system: when it was put on the bus, when it reached the queue, when we answered. */
export type ProbeAnswer = Readonly<{
  id: string;
  sentAt: Date;
  queuedAt: Date;
  answeredAt: Date;
  version: string;
}>;

/** The nodes of Karpenter that the settings admit; other nodes are never changed. */
export interface Nodes {
  /**
   * Puts this hold's mark on every node of the scope, also in place of an older hold's mark; a younger hold's stays.
   * A user's own annotation and a node labelled `never` are left alone.
   */
  mark(what: WhatToMark, context: CallContext): Promise<Marked>;
  /** Removes this hold's marks from all nodes; a mark that now belongs to another hold stays. */
  release(holdId: string, context: CallContext): Promise<Released>;
  /** Removes this hold's marks from the nodes of these names. */
  letGo(holdId: string, names: ReadonlySet<string>, context: CallContext): Promise<Released>;
  /** Removes the marks of all these holds in one pass; `others` counts the marks of all other holds. */
  releaseAll(holdIds: ReadonlySet<string>, context: CallContext): Promise<ReleasedAll>;
  /** The number of marked nodes for each hold, without the holds in `except`. */
  marks(except: readonly string[], context: CallContext): Promise<ReadonlyMap<string, number>>;
  /** The names of the nodes that carry each hold's mark. */
  markedNodes(context: CallContext): Promise<ReadonlyMap<string, readonly string[]>>;
  /** Nodes that joined after `since`: all of them, or those that carry no mark (and are not labelled `never`). */
  joinedSince(since: Date, which: "all" | "unmarked", context: CallContext): Promise<readonly NodeSeen[]>;
  /** Whether any node of the scope joined after `since`. */
  hasJoined(scope: Scope, since: Date, context: CallContext): Promise<boolean>;
  /** The NodePools that have a node, also those that the settings leave out. */
  nodePools(context: CallContext): Promise<ReadonlySet<string>>;
  /** How many nodes carry the user's own annotation and no mark of ours. */
  countUserHeld(context: CallContext): Promise<number>;
}

/** With `joinedFrom` only nodes that joined from then on are marked, and those named in `also`. */
export type WhatToMark = Readonly<{
  scope: Scope;
  holdId: string;
  joinedFrom?: Date;
  also?: ReadonlySet<string>;
}>;

/** A node as the cluster reports it; `instance` is the cloud's id where the node has one, else its provider id. */
export type NodeSeen = Readonly<{ name: string; instance: string; nodePool: string; joinedAt: Date }>;

/** `left` is true when the deadline came first: call again. `seen` are unmarked nodes that joined recently. */
export type Marked = Readonly<{
  marked: number;
  adopted: number;
  userHeld: number;
  failed: number;
  left: boolean;
  seen: readonly NodeSeen[];
}>;

/** `kept`: the mark was no longer this hold's, or its annotation is now the user's. */
export type Released = Readonly<{ released: number; kept: number; failed: number; left: boolean }>;

/** By hold; with `left` the pass was not finished, and any hold may have more marks than counted here. */
export type ReleasedAll = Readonly<{
  released: ReadonlyMap<string, Released>;
  others: ReadonlyMap<string, number>;
  left: boolean;
}>;

/** What the cloud knows of an instance; `nodePool` only when Karpenter launched it for this cluster. */
export type Instance = Readonly<{ id: string; launchedAt: Date; nodePool?: string }>;

/** The launch of a Karpenter node. */
export type Launch = Readonly<{ instance: string; launchedAt: Date; nodePool: string }>;

export interface Launches {
  /** What is known of these instances; one launched a moment ago may be missing. */
  find(instances: readonly string[], context: CallContext): Promise<ReadonlyMap<string, Instance>>;
  /** Karpenter's instances of this cluster launched since then and not yet terminated. */
  since(moment: Date, context: CallContext): Promise<readonly Launch[]>;
}

/** What cannot be read here, and what that means; `isMissingRight` where an admin of the cluster can grant it. */
export type Unavailable = Readonly<{ unavailable: string; isMissingRight?: boolean }>;

/**
 * A NodeClaim that Karpenter launched to replace other nodes; without `instance` while that is not known.
 * `isForMore`: with those launched beside it, it asks for more than the replaced nodes have room for.
 */
export type Replacement = Readonly<{ nodeClaim: string; instance?: string; isForMore?: true }>;

/** A NodeClaim of Karpenter, one for each node. */
export type NodeClaim = Readonly<{
  name: string;
  createdAt: Date;
  instance?: string;
  /** The name of its node. */
  node?: string;
  /** When its node joined the cluster. */
  joinedAt?: Date;
  /** When a pod was last scheduled to its node, removed from it or finished on it. */
  lastPodEventAt?: Date;
  /** Since when its node is not as its NodePool says any more, so that Karpenter wants to replace it. */
  driftedAt?: Date;
  /** Karpenter is removing its node. */
  isDeleted?: true;
}>;

/** Karpenter's own record of its nodes; only read. */
export interface NodeClaims {
  /** Those that events since then name as replacements, except the known ones. */
  replacements(
    since: Date,
    known: ReadonlySet<string>,
    context: CallContext,
  ): Promise<readonly Replacement[] | Unavailable>;
  /** Those of a scope, without those that are being removed. */
  ofScope(scope: Scope, context: CallContext): Promise<readonly NodeClaim[] | Unavailable>;
  /** What of this we cannot read in the cluster, and what that means. */
  limits(context: CallContext): Promise<readonly string[]>;
}

/** The cluster's pods; only read, and only where the settings need them. */
export interface Pods {
  /** Which of these nodes have a pod that is not a DaemonSet's, not static, and has not finished. */
  busyNodes(names: readonly string[], context: CallContext): Promise<ReadonlySet<string> | Unavailable>;
  /** That we may not list them, and what that means. */
  limits(context: CallContext): Promise<readonly string[]>;
}

export interface Schedules {
  /** Sets the one-shot that invokes release for this hold; the same again changes nothing. */
  arm(scope: Scope, holdId: string, at: Date): Promise<"armed" | "already armed">;
}

/** A launch as an event reports it; the kind of instance is not known yet. */
export type LaunchEvent = Readonly<{ instance: string; launchedAt: Date }>;

/** Work for later: launches to check again, or nodes that have not joined yet; since when, and how often tried. */
export type FollowUp =
  | Readonly<{ kind: "launches"; launches: readonly LaunchEvent[]; firstSeenAt: Date; attempt: number }>
  | Readonly<{ kind: "pendingNodes"; scope: Scope; awaited: readonly LaunchEvent[]; attempt: number }>;

export interface FollowUps {
  /** Delivers the follow-up after the delay; a long list may arrive in several messages. */
  enqueue(followUp: FollowUp, delay: Duration): Promise<void>;
}

export interface Clock {
  now(): Date;
}

export interface Ids {
  /** A new id, unique among all holds, and valid as a label's value. */
  newHoldId(now: Date): string;
}

export type Fields = Readonly<Record<string, unknown>>;

export interface Log {
  info(sentence: string, fields?: Fields): void;
  warn(sentence: string, fields?: Fields): void;
  error(sentence: string, fields?: Fields): void;
}

export interface Metrics {
  add(name: MetricName, value: number): void;
}

/** Every call gets it: the deadline, the log, and the id of the invocation. */
export type CallContext = Readonly<{ deadline: Date; log: Log; requestId?: string }>;

/** The outside world on one page. */
export type Ports = Readonly<{
  rules: Rules;
  holds: Holds;
  journal: Journal;
  /** Only where the settings ask for events. */
  events?: HoldEvents | undefined;
  nodes: Nodes;
  nodeClaims: NodeClaims;
  pods: Pods;
  launches: Launches;
  schedules: Schedules;
  followUps: FollowUps;
  clock: Clock;
  ids: Ids;
  metrics: Metrics;
}>;

/** What ending a hold needs: the release function reads no launches and queues nothing. */
export type ReleasePorts = Omit<Ports, "launches" | "followUps">;

/** What a use case works with: the outside world, and the context of the invocation. */
export type Context = Ports & CallContext;
export type ReleaseContext = ReleasePorts & CallContext;
