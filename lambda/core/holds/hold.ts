import type { Bursts } from "../auto/bursts.ts";
import type { HoldLength } from "../auto/staircase.ts";
import { after, type Duration, earlier, later, minutes, seconds } from "../duration.ts";
import { youngerId } from "../marks/hold-id.ts";
import type { Rules } from "../rules.ts";
import type { Scope } from "../scope.ts";

/** What requests a hold without a launch: an operator, an event, or a time window. */
export type RequestCause = "hand" | "event" | "window";

/** Everything that started or extended a hold. */
export type Causes = Readonly<{
  /** The launches by NodePool; beyond ten NodePools the others are counted together. */
  launches?: Readonly<Record<string, number>>;
  /** How often use extended it, and when its nodes were last used. */
  uses?: number;
  usedAt?: Date;
}> &
  /** The last reason of each kind of request. */
  Readonly<Partial<Record<RequestCause, string>>>;

/** A launch that Karpenter made to replace other nodes. */
export type RememberedReplacement = Readonly<{ instance: string; launchedAt: Date; nodeClaim?: string }>;

/** A time in which Karpenter may not disrupt the nodes of a scope. */
export type Hold = Readonly<{
  id: string;
  /** `releasing` is the fence: from then on nothing extends this hold, and its marks are removed. */
  state: "held" | "releasing";
  startedAt: Date;
  expiresAt: Date;
  /** When the launch or request happened that last started or extended it. */
  causedAt: Date;
  startedBecause: string;
  /** Why it ended; set with the fence. */
  endsBecause?: string;
  launches: number;
  extensions: number;
  nodes: number;
  /** A launch asked for more than the cap allows. */
  capped: boolean;
  causes: Causes;
  /** With `hold=auto`, how long it lasts after the last launch or use, and why. */
  length?: HoldLength;
  /** When its first launch happened. Its burst nodes are those that were launched for waiting pods from then on. */
  burstFrom?: Date;
  /** One of its burst nodes has joined. Until then launches do not extend it. */
  joined?: true;
  /** The most burst nodes that a look has seen at once. */
  burstNodes?: number;
  /** The burst nodes that there are, and when a look last counted them; later launches add to them. */
  kept?: number;
  keptAt?: Date;
  /** How long burst nodes were idle while it kept them, in milliseconds of one node, and how many were used again after that. */
  idleTime?: Duration;
  spared?: number;
  /** How many marks looks have taken off. */
  letGo?: number;
  /** Use of a small burst extended it: from then on it holds only the burst nodes that are used. */
  narrowsAt?: Date;
  /** When a look last let a node go. Until a launch comes, only nodes that joined after it are marked, and used ones. */
  marksFrom?: Date;
  /** The expiry that launches asked for while no node had joined. */
  askedUntil?: Date;
  /** The time of the one-shot for its end that was set last. Looks before it have one-shots of their own. */
  armedFor?: Date;
  /** A launch started it, and no pass over the nodes has marked all of them yet. */
  unprotected?: boolean;
}>;

/** A request by hand, which may be retried: the id of its invocation, which all retries share, and its first try. */
export type FirstTry = Readonly<{ id: string; at: Date }>;

/** Why launches do not count for a while, and since when. */
export type Silence = Readonly<{ kind: "paused" | "breather"; since: Date; because: string }>;

/** The record of one scope. A write succeeds only over the `version` that was read. */
export type ScopeRecord = Readonly<{
  scope: Scope;
  version: number;
  hold?: Hold;
  lastLaunchAt?: Date;
  /** The watermark: launches before it start and extend nothing, however late they are reported. */
  launchesCountFrom?: Date;
  /** Why the watermark lies in the future, as long as it does. */
  quiet?: Silence;
  /** How soon the capacity of bursts was needed again. */
  learned?: Bursts;
  /** Launches that never count, also when Karpenter's events about them have expired. */
  replacements?: readonly RememberedReplacement[];
  /** The last forced release, and the last hold by hand. */
  forced?: FirstTry;
  heldByHand?: FirstTry;
  /** Why the stored record cannot be read; everything else is empty then. Never stored. */
  unreadable?: string;
}>;

const keptInHistory = [
  ...(["id", "startedAt", "startedBecause", "expiresAt", "launches", "extensions", "nodes"] as const),
  ...(["capped", "causes", "length", "idleTime", "spared", "letGo"] as const),
];
type KeptInHistory = Pick<Hold, (typeof keptInHistory)[number]>;

/** A hold that ended, as history keeps it. */
export type PastHold = Readonly<KeptInHistory & { scope: Scope; endedAt: Date; endedBecause: string }>;

/** How long history is kept. */
export const historyDays = 90;

export const emptyRecord = (scope: Scope): ScopeRecord => ({ scope, version: 0 });

/** Starts a hold. A hold that is still being released goes to history, and the new hold adopts its marks. */
export function startHold(record: ScopeRecord, begun: Begun, now: Date) {
  const { hold: old, scope } = record;
  const counts = { launches: 0, extensions: 0, nodes: 0, capped: false };
  const hold: Hold = { ...counts, ...begun, id: youngerId(begun.id, old?.id), state: "held", startedAt: now };
  const because = old
    ? `${hold.startedBecause}, while the last hold was being released`
    : hold.startedBecause;
  const started = { action: "start" as const, hold, record: { ...record, hold }, because };
  return { ...started, ...(old && { past: pastOf(scope, old, now) }) };
}

/** What a new hold begins with. */
type Begun = Pick<Hold, "id" | "startedBecause" | "causes" | "expiresAt" | "causedAt"> & Partial<Hold>;

/** When a hold that started then must end; undefined without a cap. */
export const capOf = (rules: Rules, startedAt: Date): Date | undefined =>
  rules.maxHold > 0 ? after(startedAt, rules.maxHold) : undefined;

/** When a hold is due for release: a cap that was lowered meanwhile counts at once. */
export function dueAt(hold: Hold, rules: Rules): Date {
  const cap = capOf(rules, hold.startedAt);
  return cap ? earlier(hold.expiresAt, cap) : hold.expiresAt;
}

/** Whether the hold lasts as long as the cap allows, so that nothing extends it. */
export const lastsUntilCap = (hold: Hold, rules: Rules): boolean =>
  dueAt(hold, rules).getTime() === capOf(rules, hold.startedAt)?.getTime();

/**
 * When to look at a hold next: at its end, and before that on a grid from its start, so that two functions set the same
 * one-shot. Karpenter remembers only the last use of each node, so looks are far more frequent than holds end.
 */
export function nextLookAt(hold: Hold, rules: Rules, now: Date): Date {
  const due = dueAt(hold, rules);
  if (!hold.burstFrom) return due;
  const step = lookEvery(rules);
  const passed = after(now, soonestLook).getTime() - hold.startedAt.getTime();
  return earlier(due, after(hold.startedAt, Math.ceil(Math.max(passed, 1) / step) * step));
}

const looksInAHold = 16;
export const lookEvery = ({ hold }: Rules): Duration => Math.max(minutes(1), Math.floor(hold / looksInAHold));
/** A one-shot that comes early must not set itself again. */
export const soonestLook: Duration = seconds(30);

/** Moves the expiry to the time that is asked for, never back and never past the cap. */
export function extended(hold: Hold, asked: Date, rules: Rules): Pick<Hold, "expiresAt" | "capped"> {
  const cap = capOf(rules, hold.startedAt);
  const allowed = cap ? earlier(asked, cap) : asked;
  return { expiresAt: later(hold.expiresAt, allowed), capped: hold.capped || asked > allowed };
}

/** The hold when something asks to protect all nodes again, also those that looks have let go. */
export function widened({ narrowsAt: _, marksFrom, ...hold }: Hold): Hold {
  return { ...hold, ...(marksFrom && { unprotected: true }) };
}

/** The record when its hold is over. */
export function withoutHold(record: ScopeRecord): ScopeRecord {
  const { hold: _, ...rest } = record;
  return rest;
}

/** The hold as history will report it. */
export function pastOf(scope: Scope, hold: Hold, endedAt: Date): PastHold {
  const entries = keptInHistory.flatMap((name) => (hold[name] === undefined ? [] : [[name, hold[name]]]));
  const reported = Object.fromEntries(entries) as KeptInHistory;
  return { ...reported, scope, endedAt, endedBecause: hold.endsBecause ?? "a new hold took its place" };
}

/** A node boots within this time; a hold that is due waits no longer for the first of its nodes. */
export const longestBoot: Duration = minutes(5);

/** A node that joined after this belongs to the hold: the clocks of cloud and cluster may differ. */
export const joinsCountFrom = (burstFrom: Date): Date => after(burstFrom, -minutes(1));

/** Whether launches began or extended the hold, and none of their nodes is known to have joined. */
export const isUnjoined = (hold: Hold): hold is Hold & { burstFrom: Date } =>
  hold.burstFrom !== undefined && !hold.joined;

/** The hold once a node has joined: the expiry that launches asked for meanwhile counts now. */
export function joinedHold({ askedUntil, ...hold }: Hold, rules: Rules): Hold {
  return { ...hold, joined: true, ...(askedUntil && extended(hold, askedUntil, rules)) };
}
