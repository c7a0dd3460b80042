import { describeObserved, type ObservedWeek } from "./observed.ts";
import type { HoldChange, PastHold, ScopeRecord } from "./record.ts";
import { untilOf } from "./requests.ts";
import type { Rules } from "./rules.ts";
import type { Scope } from "./scope.ts";

/** What others may want to know of a hold. */
export type HoldEvent = Readonly<{
  type: "Hold Started" | "Hold Extended" | "Hold Capped" | "Hold Ended";
  scope: Scope;
  /** Its latest state, where it is on. */
  record?: ScopeRecord;
  past?: PastHold;
  holdId: string;
}>;

/** The events after one more change. Each is there once for each hold, and all of a hold have its latest state. */
export function withChange(events: readonly HoldEvent[], change: HoldChange): readonly HoldEvent[] {
  const { record } = change;
  const news = eventsOf(change).filter(
    ({ type, holdId }) => !events.some((one) => one.type === type && one.holdId === holdId),
  );
  return [...events, ...news].map((event) =>
    event.record && record.hold?.id === event.holdId ? { ...event, record } : event,
  );
}

function eventsOf({ before, record, past }: HoldChange): readonly HoldEvent[] {
  const { hold, scope, figures } = record;
  const ended: readonly HoldEvent[] = past ? [{ type: "Hold Ended", scope, past, holdId: past.id }] : [];
  if (!hold || hold.ended) return ended;
  const isStart = before.hold?.id !== hold.id;
  const types: HoldEvent["type"][] = [];
  if (isStart) types.push("Hold Started");
  if (figures.capped && (isStart || !before.figures.capped)) types.push("Hold Capped");
  else if (!isStart && figures.extensions > before.figures.extensions) types.push("Hold Extended");
  return [...ended, ...types.map((type) => ({ type, scope, record, holdId: hold.id }))];
}

/** The same for what was observed in a week, of all scopes. */
export const detailOfObserved = (week: ObservedWeek, { cluster, mode }: Rules) => ({
  ...{ version: 1, cluster, mode },
  ...week,
  summary: describeObserved(week),
});

/** What an event says, as docs/operating.md describes it. A change that could break a reader gets a new version. */
export function detailOf({ scope, record, past, holdId }: HoldEvent, rules: Rules) {
  const said = past ? ofPast(past) : record ? ofRecord(record, rules) : {};
  return { version: 1, cluster: rules.cluster, mode: rules.mode, scope, holdId, ...said };
}

const ofPast = ({ scope: _, id: _id, ...past }: PastHold) => ({ ...past, until: past.endedAt });

function ofRecord(record: ScopeRecord, rules: Rules) {
  const { hold, figures, requests } = record;
  return {
    startedAt: hold?.startedAt,
    startedBecause: hold?.because,
    until: untilOf(record, rules),
    ...figures,
    requests: requests
      .filter(({ releasedAt }) => !releasedAt)
      .map(({ name, cause, reason, until }) => ({ name, cause, reason, until })),
  };
}
