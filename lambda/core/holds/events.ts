import { minutes } from "../duration.ts";
import type { Rules } from "../rules.ts";
import type { Scope } from "../scope.ts";
import { type Causes, capOf, type Hold, type PastHold, type ScopeRecord } from "./hold.ts";

/** A change of a record that was written: what it was before, what it is now, and the hold that ended with it. */
export type HoldChange = Readonly<{ before: ScopeRecord; record: ScopeRecord; past?: PastHold | undefined }>;

/** What others may want to know of a hold. */
export type HoldEvent = Readonly<{
  type: "Hold Started" | "Hold Extended" | "Hold Capped" | "Hold Ended";
  scope: Scope;
  hold: Hold | PastHold;
}>;

/** The events after one more change. Each is there once for each hold, and all of a hold have its latest state. */
export function withChange(events: readonly HoldEvent[], change: HoldChange): readonly HoldEvent[] {
  const { hold: latest } = change.record;
  const news = eventsOf(change).filter(
    ({ type, hold }) => !events.some((one) => one.type === type && one.hold.id === hold.id),
  );
  return [...events, ...news].map((event) =>
    latest && event.hold.id === latest.id ? { ...event, hold: latest } : event,
  );
}

function eventsOf({ before, record, past }: HoldChange): readonly HoldEvent[] {
  const { hold, scope } = record;
  const ended: readonly HoldEvent[] = past ? [{ type: "Hold Ended", scope, hold: past }] : [];
  if (hold?.state !== "held") return ended;
  const was = before.hold?.id === hold.id ? before.hold : undefined;
  const types: HoldEvent["type"][] = [];
  if (!was) types.push("Hold Started");
  if (hold.capped && !was?.capped) types.push("Hold Capped");
  else if (was && hold.expiresAt > was.expiresAt) types.push("Hold Extended");
  return [...ended, ...types.map((type) => ({ type, scope, hold }))];
}

/** What an event says, as docs/operating.md describes it. A change that could break a reader gets a new version. */
export function detailOf({ type, scope, hold }: HoldEvent, rules: Rules) {
  const { id: holdId, startedAt, expiresAt, startedBecause, launches, extensions, nodes, causes } = hold;
  return {
    version: 1,
    cluster: rules.cluster,
    scope,
    holdId,
    startedAt,
    expiresAt,
    capAt: capOf(rules, startedAt),
    startedBecause,
    causes: kindsOf(causes),
    launches,
    extensions,
    nodes,
    ...(type === "Hold Ended" && "endedAt" in hold && endOf(hold)),
  };
}

const endOf = ({ endedAt, endedBecause, idleTime = 0, spared = 0 }: PastHold) => ({
  endedAt,
  endedBecause,
  idleNodeMinutes: Math.round(idleTime / minutes(1)),
  relaunchesSpared: spared,
});

const kindsOf = ({ launches, uses, hand, event, window }: Causes): readonly string[] =>
  Object.entries({ launch: launches, use: uses, hand, event, window })
    .filter(([, given]) => given !== undefined)
    .map(([kind]) => kind);
