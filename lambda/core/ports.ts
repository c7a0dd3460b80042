import type { Duration } from "./duration.ts";
import type { ManagedNode } from "./marks/plan-marks.ts";
import type { MetricName } from "./metrics.ts";
import type { ObservedWeek, Report } from "./observed.ts";
import type { AutoFigures, Verdict } from "./pays.ts";
import type { HoldChange, PastHold, ScopeRecord } from "./record.ts";
import type { Bound, Consolidatable, Room } from "./room.ts";
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

/** The history, the last sweep and report, and answers to probes. */
export interface Journal {
  /** Keeps a hold that ended; the same hold again overwrites what was kept. */
  remember(hold: PastHold): Promise<void>;
  /** Newest first, of the last 90 days. */
  history(limit: number): Promise<readonly PastHold[]>;
  noteSweep(at: Date): Promise<void>;
  lastSweep(): Promise<Date | undefined>;
  /** What a holder that only observes reported last. */
  noteReport(report: Report): Promise<void>;
  lastReport(): Promise<Report | undefined>;
  answerProbe(probe: ProbeAnswer): Promise<void>;
  findProbe(id: string): Promise<ProbeAnswer | undefined>;
}

/** Reports what becomes of holds. It is not essential: no work waits for it, or fails with it. */
export interface HoldEvents {
  /** Keeps a change that was written, to be sent when the work is done. */
  note(change: HoldChange): void;
  /** The same for what was observed in a week. */
  noteObserved(week: ObservedWeek): void;
}

/** Shows what was decided of nodes that no longer pay, and what the hold has cost and spared. It is not essential either. */
export interface Looks {
  note(scope: Scope, verdicts: readonly Verdict[], paid: AutoFigures): void;
}

/** A probe's way through the system: when it was put on the bus, when it reached the queue, when we answered. */
export type ProbeAnswer = Readonly<{
  id: string;
  sentAt: Date;
  queuedAt: Date;
  answeredAt: Date;
  version: string;
}>;

/** The nodes of Karpenter that the settings admit; other nodes are never marked. */
export interface Nodes {
  /** The registered nodes of a scope, with what a decision must know of them. */
  list(scope: Scope, context: CallContext): Promise<readonly SeenNode[]>;
  /** Every node with the mark of a hold, also those that the settings do not admit any more. */
  listMarked(context: CallContext): Promise<readonly SeenNode[]>;
  /** Marks and releases nodes, each on the condition that it is still as it was listed, or else as it is planned anew. */
  change(changes: readonly NodeChange[], context: ChangeContext): Promise<Changed>;
  /** The NodePools that have a node, also those that the settings leave out. */
  nodePools(context: CallContext): Promise<ReadonlySet<string>>;
}

/** A node as it was listed, and the name of its NodePool. */
export type SeenNode = ManagedNode & Readonly<{ nodePool: string }>;

/** A node to be marked for a hold, or from which the mark of a hold is to be removed. */
export type NodeChange = Readonly<{ do: "mark" | "release"; node: SeenNode; holdId: string; scope: Scope }>;

/** `onChange` is called for each node that was not held and is now, or the other way round. */
export type ChangeContext = CallContext & Readonly<{ onChange?: (change: NodeChange) => void }>;

/**
 * What became of changes. `adopted` nodes had the mark of an older hold, `kept` ones have an annotation that is not ours
 * to remove. `failed` could not be changed; with `left` the deadline came first.
 */
export type Changed = Readonly<{
  marked: number;
  adopted: number;
  userHeld: number;
  released: number;
  kept: number;
  failed: number;
  left: boolean;
}>;

/** What became of a node, as `kubectl describe node` shows it. */
export type NodeEvent = Readonly<{
  node: Pick<SeenNode, "name" | "uid">;
  reason: "Held" | "LetGo" | "Released";
  message: string;
  at: Date;
}>;

/** Writes Events about nodes into the cluster. They are not essential: no mark waits for them, and no work fails with them. */
export interface NodeEvents {
  /** Keeps an Event until the nodes of a pass are changed. */
  note(event: NodeEvent): void;
  /** Writes what was noted, and never fails. */
  write(context: CallContext): Promise<void>;
}

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

/** What cannot be read here, and what that means; `isMissingRight` where an admin of the cluster can grant it; `isForNow` where the next pass may read it. */
export type Unavailable = Readonly<{ unavailable: string; isMissingRight?: boolean; isForNow?: true }>;

/** A NodeClaim of Karpenter, one for each node. */
export type NodeClaim = Readonly<{
  name: string;
  nodePool: string;
  createdAt: Date;
  instance?: string;
  /** The name of its node. */
  node?: string;
  /** Since when its node has been ready for pods. */
  openedAt?: Date;
  /** Since when its node is not as its NodePool says any more, so that Karpenter wants to replace it. */
  driftedAt?: Date;
  consolidatable?: Consolidatable;
  /** Karpenter is removing its node. */
  isDeleted?: true;
  /** The room that its node has for pods. */
  room?: Omit<Room, "name">;
}>;

/** Karpenter's own record of its nodes; only read. */
export interface NodeClaims {
  /** Those of a scope, without those that are being removed. */
  list(scope: Scope, context: CallContext): Promise<readonly NodeClaim[] | Unavailable>;
}

/** The pods on nodes; only read, and only with `hold=auto`. */
export interface Pods {
  /** The pods of the whole cluster that are on a node and have not finished. */
  list(context: CallContext): Promise<readonly Bound[] | Unavailable>;
  /** That we may not list them, and what that means. */
  limits(context: CallContext): Promise<readonly string[]>;
}

export interface Schedules {
  /** Sets the one-shot that invokes release for this hold; the same again changes nothing. */
  arm(scope: Scope, holdId: string, at: Date): Promise<"armed" | "already armed">;
}

/** A launch as an event reports it; the kind of instance is not known yet. */
export type LaunchEvent = Readonly<{ instance: string; launchedAt: Date }>;

/** Work for later: launches that the cloud does not know yet, since when and how often tried; or a scope to check again, and whether its pods are read. */
export type FollowUp =
  | Readonly<{ kind: "launches"; launches: readonly LaunchEvent[]; firstSeenAt: Date; attempt: number }>
  | Readonly<{ kind: "scope"; scope: Scope; isLook: boolean }>;

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
  /** Only where a page shows them. */
  looks?: Looks | undefined;
  /** Only where the settings ask for them. */
  nodeEvents?: NodeEvents | undefined;
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

/** What a pass needs: the release function does not ask the cloud for launches. */
export type PassPorts = Omit<Ports, "launches">;

/** What a use case works with: the outside world, and the context of the invocation. */
export type Context = Ports & CallContext;
export type PassContext = PassPorts & CallContext;
