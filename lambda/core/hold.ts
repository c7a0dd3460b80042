import type { Scope } from "./scope.ts";

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
  /** The moment a one-shot was last set for. */
  armedFor?: Date;
}>;

/** All we know of one scope; `version` is the one read, so that a write can name it as its condition. */
export type ScopeRecord = Readonly<{
  scope: Scope;
  version: number;
  hold?: Hold;
  lastLaunchAt?: Date;
  /** The watermark: launches before it start and extend nothing, however late they are told. */
  launchesCountFrom?: Date;
  /** Why the watermark lies in the future, while it does. */
  quiet?: "paused" | "breather";
}>;

/** A hold that ended, as history keeps it. */
export type PastHold = Readonly<{
  scope: Scope;
  id: string;
  startedAt: Date;
  startedBecause: string;
  expiresAt: Date;
  endedAt: Date;
  endedBecause: string;
  launches: number;
  extensions: number;
  nodes: number;
  capped: boolean;
}>;

/** A paused holder that nobody resumes stays paused. */
export const untilResumed = new Date("9999-12-31T00:00:00.000Z");

export const emptyRecord = (scope: Scope): ScopeRecord => ({ scope, version: 0 });

/** The hold as history will tell it. */
export function ended(scope: Scope, hold: Hold, endedAt: Date, fallback: string): PastHold {
  const { id, startedAt, startedBecause, expiresAt, launches, extensions, nodes, capped } = hold;
  const endedBecause = hold.endsBecause ?? fallback;
  return {
    scope,
    id,
    startedAt,
    startedBecause,
    expiresAt,
    endedAt,
    endedBecause,
    launches,
    extensions,
    nodes,
    capped,
  };
}
