import { youngerId } from "./marks/hold-id.ts";
import type { Observed, Watched } from "./observed.ts";
import { type Account, type AutoFigures, withoutNodes } from "./pays.ts";
import type { Scope } from "./scope.ts";

/** Launches protect the nodes of a scope. The cap counts from the start. */
export type LaunchHold = Readonly<{
  startedAt: Date;
  lastLaunchAt: Date;
  /** The rights for `hold=auto` are missing, or the settings have changed from it. */
  isConstant?: true;
  /** With `hold=auto`: it is over, but for nodes that still run Jobs. */
  isEnding?: true;
}>;

/** Who asks for a hold without a launch: a person, an event, or a window. */
export type RequestCause = "person" | "event" | "window";

/** A wish to hold a scope until a time that neither a launch nor the cap changes. */
export type Request = Readonly<{
  name: string;
  cause: RequestCause;
  reason: string;
  /** When it was made, or when its event happened or its window began. */
  at: Date;
  until: Date;
  /** When it was released before its end. It is remembered until then, so that a duplicate of it changes nothing. */
  releasedAt?: Date;
}>;

/** The time in which the nodes of a scope are marked with this id. Once it has ended, its marks are removed. */
export type Hold = Readonly<{
  id: string;
  startedAt: Date;
  because: string;
  ended?: Ended;
  /** With `mode=observe`, until it has ended. */
  watched?: Watched;
}>;
export type Ended = Readonly<{ at: Date; because: string }>;

/** Launches in this time do not count. While a scope is paused nothing is held; a breather stops launches alone. */
export type Quiet = Readonly<{ kind: "paused" | "breather"; since: Date; until: Date; because: string }>;

/** Everything that was asked for before this time is over. Retries of an invocation have the same id. */
export type ReleasedByHand = Readonly<{ at: Date; because: string; by?: string }>;

/** What history reports of a hold; nothing is decided by it. */
export type Figures = Readonly<{
  /** The launches by NodePool; beyond ten NodePools the others are counted together. */
  launches: Readonly<Record<string, number>>;
  /** How often its end was moved. */
  extensions: number;
  /** How many nodes were marked. */
  nodes: number;
  /** Launches asked for more than the cap allows. */
  capped: boolean;
  /** The reasons of the requests that were part of it. */
  requests: readonly string[];
  /** With `mode=observe`: no node was marked. */
  observed?: Observed;
}> &
  AutoFigures;

/** When this scope will be looked at next: the one-shot and the message that were set last. */
export type Looks = Readonly<{ oneShot?: Date; message?: Date }>;

/** The record of one scope. A write succeeds only over the `version` that was read. */
export type ScopeRecord = Readonly<{
  scope: Scope;
  version: number;
  hold?: Hold;
  /** The hold that was closed last. The next one's id is younger, also where clocks differ. */
  closedId?: string;
  launchHold?: LaunchHold;
  requests: readonly Request[];
  quiet?: Quiet;
  released?: ReleasedByHand;
  /** Launches of the last minutes by instance, so that each is counted once. */
  seen: Readonly<Record<string, Date>>;
  figures: Figures;
  /** With `hold=auto`, what is remembered of the nodes. */
  account?: Account;
  looks: Looks;
  /** Why the stored record cannot be read; everything else is empty then. Never stored. */
  unreadable?: string;
}>;

/** A hold that ended, as history reports it. */
export type PastHold = Readonly<
  { scope: Scope; id: string; startedAt: Date; startedBecause: string } & Figures & {
      endedAt: Date;
      endedBecause: string;
    }
>;

/** A change of a record that was written: what it was before, what it is now, and the hold that ended with it. */
export type HoldChange = Readonly<{ before: ScopeRecord; record: ScopeRecord; past?: PastHold | undefined }>;

/** How long history is kept. */
export const historyDays = 90;

export const noFigures: Figures = {
  launches: {},
  extensions: 0,
  nodes: 0,
  capped: false,
  requests: [],
  superfluous: 0,
  letGo: 0,
  spared: 0,
  evictionsSpared: 0,
};

export const emptyRecord = (scope: Scope): ScopeRecord => ({
  scope,
  version: 0,
  requests: [],
  seen: {},
  figures: noFigures,
  looks: {},
});

/** The record with another hold, whose id is younger than that of the present or the last one. Its one-shot is yet to be set. */
export function withNewHold(record: ScopeRecord, hold: Hold): ScopeRecord {
  const { oneShot: _, ...looks } = record.looks;
  return {
    ...record,
    hold: { ...hold, id: youngerId(hold.id, record.hold?.id ?? record.closedId) },
    figures: noFigures,
    looks,
  };
}

/** The record once no node has the mark of its hold. */
export function withoutHold({ hold, account, ...record }: ScopeRecord): ScopeRecord {
  return {
    ...record,
    ...(hold && { closedId: hold.id }),
    ...(account && { account: withoutNodes(account) }),
    figures: noFigures,
  };
}

/** The hold of a record as history will report it. */
export function pastOf({ scope, hold, figures }: ScopeRecord & { hold: Hold }, now: Date): PastHold {
  const { id, startedAt, because, ended } = hold;
  return {
    scope,
    id,
    startedAt,
    startedBecause: because,
    ...figures,
    endedAt: ended?.at ?? now,
    endedBecause: ended?.because ?? "a new hold took its place",
  };
}
