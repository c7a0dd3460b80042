import type { HoldLength } from "../auto/hold-length.ts";
import type { Learned } from "../auto/learned.ts";
import { after, type Duration, earlier, later, minutes } from "../duration.ts";
import { youngerId } from "../marks/hold-id.ts";
import type { Rules } from "../rules.ts";
import type { Scope } from "../scope.ts";

/** Who asked for a hold without a launch. */
export type RequestCause = "hand" | "event" | "window";

/** Why a hold is on, beside how it began. */
export type Causes = Readonly<{
  /** How many launches of which NodePool; of many NodePools the last are counted together. */
  launches?: Readonly<Record<string, number>>;
  /** How often use extended it, and when its nodes were last used. */
  uses?: number;
  usedAt?: Date;
}> &
  /** The last reason of each. */
  Readonly<Partial<Record<RequestCause, string>>>;

/** A launch that Karpenter made to replace other nodes. */
export type RememberedReplacement = Readonly<{ instance: string; launchedAt: Date; nodeClaim?: string }>;

/** A window in which Karpenter may not disrupt the nodes of a scope. */
export type Hold = Readonly<{
  id: string;
  /** `releasing` is the fence: from then on nothing extends this hold, and its marks come off. */
  state: "held" | "releasing";
  startedAt: Date;
  expiresAt: Date;
  /** When what last started or extended it happened: a launch, or an operator's wish. */
  causedAt: Date;
  startedBecause: string;
  /** Why it ended; set with the fence. */
  endsBecause?: string;
  launches: number;
  extensions: number;
  nodes: number;
  /** Some launch asked for more than the cap allows. */
  capped: boolean;
  causes: Causes;
  /** With `hold=auto`, how long it lasts from the last launch or use on, and why. */
  length?: HoldLength;
  /** The first launch that counts for this hold; what was launched from then on for waiting pods are its burst nodes. */
  burstFrom?: Date;
  /** One of its burst nodes has joined: before that, launches do not extend it. */
  joined?: true;
  /** Until when launches asked to hold, while no node had joined. */
  askedUntil?: Date;
  /** The moment a one-shot was last set for. */
  armedFor?: Date;
  /** A launch began it, and no look at the nodes has left all of them marked yet. */
  unprotected?: boolean;
}>;

/** A release by hand: the id of its invocation, the same however often it is tried, and when it was first. */
export type Forced = Readonly<{ id: string; at: Date }>;

/** Why launches do not count for a while, and since when. */
export type Silence = Readonly<{ kind: "paused" | "breather"; since: Date; because: string }>;

/** All we know of one scope; `version` is the one read, so that a write can name it as its condition. */
export type ScopeRecord = Readonly<{
  scope: Scope;
  version: number;
  hold?: Hold;
  lastLaunchAt?: Date;
  /** The watermark: launches before it start and extend nothing, however late they are reported. */
  launchesCountFrom?: Date;
  /** Why the watermark lies in the future, while it does. */
  quiet?: Silence;
  /** How soon capacity was needed again, with `hold=auto`. */
  learned?: Learned;
  /** Launches that never count, also when Karpenter's events about them have expired. */
  replacements?: readonly RememberedReplacement[];
  /** The last release by hand, which may be retried. */
  forced?: Forced;
  /** Why what is stored cannot be read; the rest of the record is empty then. Never stored. */
  unreadable?: string;
}>;

type OnlyWhileHeld =
  | ("state" | "causedAt" | "endsBecause" | "armedFor")
  | ("unprotected" | "burstFrom" | "joined" | "askedUntil");

/** A hold that ended, as history keeps it. */
export type PastHold = Readonly<
  Omit<Hold, OnlyWhileHeld> & {
    scope: Scope;
    endedAt: Date;
    endedBecause: string;
  }
>;

/** How long history is kept. */
export const historyDays = 90;

export const emptyRecord = (scope: Scope): ScopeRecord => ({ scope, version: 0 });

/** A new hold where none is running; one that is still being released goes to history, and its marks are adopted. */
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

/** When a hold that started then must be over, whatever launches; undefined without a cap. */
export const capOf = (rules: Rules, startedAt: Date): Date | undefined =>
  rules.maxHold > 0 ? after(startedAt, rules.maxHold) : undefined;

/** When a hold is due for release: a cap that was lowered meanwhile counts at once. */
export function dueAt(hold: Hold, rules: Rules): Date {
  const cap = capOf(rules, hold.startedAt);
  return cap ? earlier(hold.expiresAt, cap) : hold.expiresAt;
}

/** Moves the expiry to what is asked, never back and never past the cap. */
export function extended(hold: Hold, asked: Date, rules: Rules): Pick<Hold, "expiresAt" | "capped"> {
  const cap = capOf(rules, hold.startedAt);
  const allowed = cap ? earlier(asked, cap) : asked;
  return { expiresAt: later(hold.expiresAt, allowed), capped: hold.capped || asked > allowed };
}

/** The record when its hold is over. */
export function withoutHold(record: ScopeRecord): ScopeRecord {
  const { hold: _, ...rest } = record;
  return rest;
}

/** The hold as history will report it. */
export function pastOf(scope: Scope, hold: Hold, endedAt: Date): PastHold {
  const { state: _s, causedAt: _c, armedFor: _a, unprotected: _u, ...rest } = hold;
  const { burstFrom: _b, joined: _j, askedUntil: _until, endsBecause, ...reported } = rest;
  return { ...reported, scope, endedAt, endedBecause: endsBecause ?? "a new hold took its place" };
}

/** A node boots within this time; a hold that is due waits no longer for the first of its nodes. */
export const longestBoot: Duration = minutes(5);

/** A node that joined after this is one of the hold's: the clocks of cloud and cluster may differ. */
export const joinsCountFrom = (burstFrom: Date): Date => after(burstFrom, -minutes(1));

/** Whether launches began or extended the hold, and none of their nodes is known to have joined. */
export const isUnjoined = (hold: Hold): hold is Hold & { burstFrom: Date } =>
  hold.burstFrom !== undefined && !hold.joined;

/** The hold once a node has joined: what launches asked for meanwhile counts now. */
export function joinedHold({ askedUntil, ...hold }: Hold, rules: Rules): Hold {
  return { ...hold, joined: true, ...(askedUntil && extended(hold, askedUntil, rules)) };
}
