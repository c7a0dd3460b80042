import type { ScopeRecord } from "../../lambda/core/record.ts";
import { untilOf } from "../../lambda/core/requests.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import type { NewEvent } from "./timeline.ts";

/** What happened to the hold of a scope between two records. */
export function changesOf(
  before: ScopeRecord | undefined,
  after: ScopeRecord,
  rules: Rules,
): readonly NewEvent[] {
  const { scope, hold } = after;
  const was = before?.hold;
  if (was && was.id !== hold?.id) {
    const because = was.ended?.because ?? "a new hold took its place";
    return [{ kind: "hold ended", scope, holdId: was.id, because }, ...changesOf(undefined, after, rules)];
  }
  if (!hold) return [];
  const holdId = hold.id;
  const until = untilOf(after, rules) ?? hold.startedAt;
  const releasing: readonly NewEvent[] =
    hold.ended && !was?.ended ? [{ kind: "hold releasing", scope, holdId, because: hold.ended.because }] : [];
  if (!was) return [{ kind: "hold started", scope, holdId, until, because: hold.because }, ...releasing];
  const removed = (after.figures.observed?.removed ?? 0) - (before?.figures.observed?.removed ?? 0);
  const evicted = (after.figures.observed?.evicted ?? 0) - (before?.figures.observed?.evicted ?? 0);
  const text = `${removed} of the nodes that would be held removed, ${evicted} pods evicted`;
  const observed: readonly NewEvent[] = removed > 0 ? [{ kind: "note", text }] : [];
  const news = after.figures.requests.filter((reason) => !before?.figures.requests.includes(reason));
  const caused: readonly NewEvent[] =
    news.length > 0 ? [{ kind: "hold caused", scope, holdId, because: news.join("; ") }] : [];
  const wasUntil = before && untilOf(before, rules);
  const isExtended = !hold.ended && wasUntil && until.getTime() !== wasUntil.getTime();
  const extended: readonly NewEvent[] = isExtended ? [{ kind: "hold extended", scope, holdId, until }] : [];
  return [...observed, ...caused, ...releasing, ...extended];
}
