import { after, latest } from "./duration.ts";
import type { NodeFacts } from "./figures.ts";
import { endOf, jobsEndWithin, launchesThatHold, launchHoldAfter, untilJobsEnd } from "./launches.ts";
import type { Account } from "./pays.ts";
import type { Launch } from "./ports.ts";
import { byWhenTheyCount, isPaused, requestsThatCount, type Silence, silenceOf } from "./quiet.ts";
import type { LaunchHold, Request, ScopeRecord } from "./record.ts";
import { isOn } from "./requests.ts";
import { type Rules, whyLeftOut } from "./rules.ts";

export type DemandFacts = Readonly<{
  /** With what somebody asks for. */
  record: ScopeRecord;
  /** The record of the whole cluster, where the scope is a NodePool. */
  whole?: ScopeRecord | undefined;
  /** Launches in this scope, by events or by NodeClaims; any of them may have been there before. */
  launches: readonly Launch[];
  /** What the cluster showed; undefined where it could not be read. */
  nodes?: NodeFacts | undefined;
  rules: Rules;
  /** The settings have `hold=auto`, but the rights for that are missing. */
  isLimited?: boolean;
  now: Date;
}>;

/** What asks for a hold of a scope, and what stands against it. */
export type Demand = Readonly<{
  /** Until when nodes are held; undefined: they are not. */
  until: Date | undefined;
  /** When a pause ends after which requests go on. */
  resumesAt: Date | undefined;
  silence: Silence;
  /** The launches, by when they count; and those after which nodes are still to be held. */
  launches: readonly Launch[];
  holding: readonly Launch[];
  /** The launch hold with its end, over or not. */
  launchHold: LaunchHold | undefined;
  end: ReturnType<typeof endOf> | undefined;
  isOver: boolean;
  /** The requests of which anything is still to be known; and those that are on. */
  requests: readonly Request[];
  asked: readonly Request[];
}>;

/** What asks for a hold at this time. Nodes are held until the last of it ends. */
export function demandOf(facts: DemandFacts): Demand {
  const { record, whole, rules, isLimited, now } = facts;
  const silence = silenceOf(record, whole, now);
  const launches = byWhenTheyCount(silence, { ...facts, seen: record.seen });
  const countFrom = silence.launchesCountFrom;
  const ofLaunches = { before: record.launchHold, launches, countFrom, rules, isLimited, now };
  const launchHold = untilJobsEnd(withLimit(launchHoldAfter(ofLaunches), facts), facts);
  const end = launchHold && endOf(launchHold, rules);
  const isOver = end !== undefined && end.at <= now;
  const requests = requestsThatCount(record, silence, now);
  const asked = requests.filter((one) => isOn(one, now));
  const ends = [...(end && !isOver ? [end.at] : []), ...asked.map(({ until }) => until)];
  const until = whyLeftOut(rules, record.scope) === undefined ? latest(ends) : undefined;
  const pausedUntil = isPaused(silence) ? silence.quiet?.until : undefined;
  return {
    until: pausedUntil ? undefined : until,
    resumesAt: until && pausedUntil && pausedUntil < until ? pausedUntil : undefined,
    ...{ silence, launches, holding: launchesThatHold(ofLaunches) },
    ...{ launchHold, end, isOver, requests, asked },
  };
}

/** Whether pods were read until lately, so that a hold may have paid for as long as it has lasted. */
export const wasLookedAt = (account: Account | undefined, { maxHold }: Rules, now: Date): boolean =>
  account !== undefined && after(account.at, maxHold + jobsEndWithin) > now;

/**
 * Remembers whether a hold is constant because rights are missing, or because the settings say so by now, so that
 * everything that reads the record knows its end. Where a hold may have paid until lately, the cap counts from now.
 */
function withLimit(
  hold: LaunchHold | undefined,
  { record, rules, nodes, isLimited, now }: DemandFacts,
): LaunchHold | undefined {
  if (!hold) return undefined;
  const { isConstant: _, ...rest } = hold;
  const { launchHold: before, account } = record;
  const isKnown = wasLookedAt(account, rules, now);
  const isConstant = rules.auto ? !nodes && before?.isConstant : isLimited || isKnown;
  if (!isConstant) return rest;
  return { ...rest, startedAt: isKnown && !before?.isConstant ? now : rest.startedAt, isConstant };
}
