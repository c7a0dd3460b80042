import type { AllHolds, Holds } from "../../lambda/core/ports.ts";
import type { ScopeRecord } from "../../lambda/core/record.ts";
import { untilOf } from "../../lambda/core/requests.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import type { Scope } from "../../lambda/core/scope.ts";
import type { NewEvent, Timeline } from "./timeline.ts";

/** Holds that report to the timeline what each write means. */
export class RecordingHolds implements Holds {
  readonly #holds: Holds;
  readonly #timeline: Timeline;
  readonly #rules: Rules;

  constructor(holds: Holds, timeline: Timeline, rules: Rules) {
    this.#holds = holds;
    this.#timeline = timeline;
    this.#rules = rules;
  }

  find(scope: Scope): Promise<ScopeRecord | undefined> {
    return this.#holds.find(scope);
  }

  all(): Promise<AllHolds> {
    return this.#holds.all();
  }

  async write(record: ScopeRecord): Promise<boolean> {
    const before = await this.#holds.find(record.scope);
    const isWritten = await this.#holds.write(record);
    if (isWritten)
      for (const reported of changesOf(before, record, this.#rules)) this.#timeline.record(reported);
    return isWritten;
  }
}

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
