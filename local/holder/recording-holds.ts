import { describeLength } from "../../lambda/core/auto/staircase.ts";
import { describeCauses, describeEnd } from "../../lambda/core/holds/causes.ts";
import type { Hold, ScopeRecord } from "../../lambda/core/holds/hold.ts";
import type { AllHolds, Holds } from "../../lambda/core/ports.ts";
import type { Scope } from "../../lambda/core/scope.ts";
import type { NewEvent, Timeline } from "./timeline.ts";

/** Holds that report to the timeline what each write means. */
export class RecordingHolds implements Holds {
  readonly #holds: Holds;
  readonly #timeline: Timeline;

  constructor(holds: Holds, timeline: Timeline) {
    this.#holds = holds;
    this.#timeline = timeline;
  }

  find(scope: Scope): Promise<ScopeRecord | undefined> {
    return this.#holds.find(scope);
  }

  all(): Promise<AllHolds> {
    return this.#holds.all();
  }

  async write(record: ScopeRecord): Promise<boolean> {
    const before = (await this.#holds.find(record.scope))?.hold;
    const isWritten = await this.#holds.write(record);
    if (isWritten)
      for (const reported of changesOf(record.scope, before, record.hold)) this.#timeline.record(reported);
    return isWritten;
  }
}

/** What happened to the hold of a scope between two records. */
export function changesOf(
  scope: Scope,
  before: Hold | undefined,
  after: Hold | undefined,
): readonly NewEvent[] {
  if (before && before.id !== after?.id) {
    const because = describeEnd(before.endsBecause ?? "a new hold took its place", before);
    const ended: NewEvent = { kind: "hold ended", scope, holdId: before.id, because };
    return [ended, ...changesOf(scope, undefined, after)];
  }
  if (!after) return [];
  const { id: holdId, expiresAt: until, state, startedBecause, endsBecause = "" } = after;
  if (!before)
    return [{ kind: "hold started", scope, holdId, until, because: withLength(startedBecause, after) }];
  const because = withLength(describeCauses(after), after);
  const caused: readonly NewEvent[] =
    because === withLength(describeCauses(before), before)
      ? []
      : [{ kind: "hold caused", scope, holdId, because }];
  if (state === "releasing" && before.state === "held") {
    return [...caused, { kind: "hold releasing", scope, holdId, because: endsBecause }];
  }
  if (until.getTime() !== before.expiresAt.getTime())
    return [...caused, { kind: "hold extended", scope, holdId, until }];
  return caused;
}

/** With `hold=auto`, also how long it lasts. */
const withLength = (because: string, { length }: Hold): string =>
  length ? `${because}; it lasts ${describeLength(length)}` : because;
