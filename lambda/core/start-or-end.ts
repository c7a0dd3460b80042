import type { Demand } from "./demand.ts";
import { describeQuiet, type Silence, whyCut } from "./quiet.ts";
import { type Hold, type PastHold, pastOf, type ScopeRecord, withNewHold } from "./record.ts";
import { untilOf } from "./requests.ts";
import { type Rules, whyLeftOut } from "./rules.ts";

/** Why a hold has ended that lasted for as long as it may. */
export const capped = "launches have held for as long as maxHold allows";

type StartFacts = Demand &
  Readonly<{
    /** With what somebody asks for, and as it was read where somebody asks for a change of it. */
    record: ScopeRecord;
    stored?: ScopeRecord;
    /** The record with all but its hold. */
    next: ScopeRecord;
    rules: Rules;
    now: Date;
    newId: string;
  }>;
type Started = Readonly<{ record: ScopeRecord; because: string; past?: PastHold; isEnd?: true }>;

/** Starts a hold where nodes are to be held and none is on, and ends one where they are not. */
export function startOrEnd(facts: StartFacts): Started {
  const { next, until, now, newId, asked, silence } = facts;
  const { hold, scope } = next;
  if (until && hold && !hold.ended) return { record: next, because: hold.because };
  if (until) {
    const because = whyHeld(facts);
    const record = withNewHold(next, { id: newId, startedAt: now, because });
    return { record, because, ...(hold && { past: pastOf({ ...next, hold }, now) }) };
  }
  if (!hold || hold.ended)
    return { record: next, because: hold?.ended?.because ?? whyNothing(silence, asked.length) };
  const because = whyOver(facts, hold);
  return { record: { ...next, scope, hold: { ...hold, ended: { at: now, because } } }, because, isEnd: true };
}

function whyHeld({ holding, asked }: StartFacts): string {
  const pools = [...new Set(holding.map(({ nodePool }) => nodePool))].toSorted();
  if (pools.length === 1) return `a node was launched in NodePool ${pools[0]}`;
  if (pools.length > 1) return `nodes were launched in NodePools ${pools.join(", ")}`;
  return asked[0]?.reason ?? "a node was launched";
}

function whyNothing({ quiet }: Silence, requests: number): string {
  if (quiet) return describeQuiet(quiet);
  return requests > 0 ? "the settings leave it out" : "no launch and no request counts";
}

function whyOver(facts: StartFacts, hold: Hold): string {
  const { record, stored = record, rules, silence, isOver, end } = facts;
  const leftOut = whyLeftOut(rules, record.scope);
  const cut = leftOut ?? whyCut(record, silence, rules) ?? (isOver && end?.isCapped ? capped : undefined);
  if (cut) return cut;
  // What is released now, or was released during this hold: the clock that started it may have been ahead.
  const before = new Map(stored.requests.map(({ name, releasedAt }) => [name, releasedAt]));
  const expiredAt = untilOf(record, rules) ?? hold.startedAt;
  const released = record.requests.filter(
    ({ name, releasedAt }) => releasedAt && (releasedAt >= expiredAt || !before.get(name)),
  );
  const names = released.map(({ name }) => name).join(", ");
  return released.length > 0 ? `released by hand: ${names}` : "the hold expired";
}
