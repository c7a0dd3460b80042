import type { HoldLength } from "../auto/decide-hold-length.ts";
import type { Learned } from "../auto/learned.ts";
import { after, earlier, later, seconds } from "../duration.ts";
import type { Rules } from "../rules.ts";
import type { Scope } from "../scope.ts";

/** Who asked for a hold without a launch. */
export type Wish = "hand" | "event" | "window";

/** Why a hold is on, beside how it began. */
export type Causes = Readonly<{
  /** How many launches of which NodePool; of many NodePools the last are counted together. */
  launches?: Readonly<Record<string, number>>;
  /** How often use extended it, and when its nodes were last used. */
  uses?: number;
  usedAt?: Date;
}> &
  /** The last reason of each. */
  Readonly<Partial<Record<Wish, string>>>;

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
  /** The first launch that counted and since which no node is known to have joined. */
  unjoinedSince?: Date;
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
}>;

/** A hold that ended, as history keeps it. */
export type PastHold = Readonly<
  Omit<Hold, "state" | "causedAt" | "endsBecause" | "armedFor" | "unprotected" | "burstFrom"> & {
    scope: Scope;
    endedAt: Date;
    endedBecause: string;
  }
>;

/** How long history is kept. */
export const historyDays = 90;

/** A pause without an end lasts until it is resumed. */
export const untilResumed = new Date("9999-12-31T00:00:00.000Z");

export const emptyRecord = (scope: Scope): ScopeRecord => ({ scope, version: 0 });

/** What a new hold looks like before any launch extended it. */
export const newHold = (
  begun: Pick<Hold, "id" | "startedAt" | "startedBecause" | "causes" | "expiresAt" | "causedAt">,
): Hold => ({
  ...begun,
  state: "held",
  launches: 0,
  extensions: 0,
  nodes: 0,
  capped: false,
});

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

/** The fence: launches find no running hold from here on. */
export const fenced = (hold: Hold, endsBecause: string): Hold => ({
  ...hold,
  state: "releasing",
  endsBecause,
});

/** The record when its hold is over. */
export function withoutHold(record: ScopeRecord): ScopeRecord {
  const { hold: _, ...rest } = record;
  return rest;
}

/** The hold as history will report it. */
export function pastOf(scope: Scope, hold: Hold, endedAt: Date): PastHold {
  const {
    state: _s,
    causedAt: _c,
    armedFor: _a,
    unprotected: _u,
    burstFrom: _b,
    endsBecause,
    ...reported
  } = hold;
  return { ...reported, scope, endedAt, endedBecause: endsBecause ?? "a new hold took its place" };
}

/** From when launches count for a scope, and why not earlier. */
export type Watermark = Readonly<{ from: Date; quiet?: Silence }>;

/** A pause or release of the whole cluster counts in every scope. */
export function watermarkOf(record: ScopeRecord, whole?: ScopeRecord): Watermark {
  const marks = [record, ...(whole ? [whole] : [])].map(
    ({ launchesCountFrom: from = new Date(0), quiet }): Watermark => (quiet ? { from, quiet } : { from }),
  );
  return marks.reduce((a, b) => (b.from > a.from ? b : a));
}

/** The record with a silence: launches until then never count, however late they are reported. */
export const silenced = (record: ScopeRecord, from: Date, quiet: Silence): ScopeRecord => ({
  ...record,
  launchesCountFrom: from,
  quiet,
});

/** The record from which on launches count, whatever was silent. */
export function countingFrom(record: ScopeRecord, from: Date): ScopeRecord {
  const { quiet: _, ...rest } = record;
  return { ...rest, launchesCountFrom: from };
}

/** A launch dated ahead of our clock would make those after it look old. */
export function withoutLaunchAhead(record: ScopeRecord, now: Date): ScopeRecord {
  const { lastLaunchAt, ...rest } = record;
  return lastLaunchAt && lastLaunchAt > now ? rest : record;
}

/** A node that joined after this shows that launches lead to nodes: the clocks of cloud and cluster differ by seconds. */
export const joinsCountFrom = (unjoinedSince: Date): Date => after(unjoinedSince, -seconds(10));

/** The record once a node has joined. */
export function withJoinedNode(record: ScopeRecord): ScopeRecord {
  const { unjoinedSince: _, ...rest } = record;
  return rest;
}

export const isPaused = (watermark: Watermark, now: Date): boolean =>
  watermark.quiet?.kind === "paused" && watermark.from > now;
