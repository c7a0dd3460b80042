import type { TimelineEvent } from "../../report/timeline/events.ts";

export type { TimelineEvent };

/** An event before the timeline adds its time. */
export type NewEvent<T = TimelineEvent> = T extends TimelineEvent ? Omit<T, "at"> : never;

type Listener = (event: TimelineEvent) => void;

const longest = 10_000;

/** Records events in order and passes them to its listeners. Old ones are forgotten, except those that show in the present. */
export class Timeline {
  readonly #now: () => Date;
  readonly #listeners = new Set<Listener>();
  #events: TimelineEvent[] = [];
  #most = longest;

  constructor(now: () => Date) {
    this.#now = now;
  }

  get events(): readonly TimelineEvent[] {
    return this.#events;
  }

  record(reported: NewEvent): void {
    const event: TimelineEvent = { ...reported, at: this.#now() };
    if (event.kind === "look") this.#forgetLook(event.where);
    this.#events.push(event);
    if (this.#events.length > this.#most) this.#forget();
    for (const listener of this.#listeners) listener(event);
  }

  /** Only the last look at a scope is of interest. */
  #forgetLook(where: string): void {
    const last = this.#events.findLastIndex((one) => one.kind === "look" && one.where === where);
    if (last >= 0) this.#events = this.#events.toSpliced(last, 1);
  }

  /** Calls the listener for every event from now on, until it is cancelled. */
  follow(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #forget(): void {
    const old = this.#events.slice(0, -longest / 2);
    this.#events = [...presentIn(old), ...this.#events.slice(-longest / 2)];
    this.#most = this.#events.length + longest / 2;
  }
}

/** What is still so at the end of these events: nodes that are there and their marks, and holds that are on. */
function presentIn(events: readonly TimelineEvent[]): readonly TimelineEvent[] {
  const present = new Map<string, Map<string, TimelineEvent>>();
  for (const event of events) {
    const about = "holdId" in event && "scope" in event ? event.holdId : "node" in event ? event.node : "";
    const aspect = aspects[event.kind];
    if (event.kind === "node gone" || event.kind === "hold ended") present.delete(about);
    else if (aspect) present.set(about, (present.get(about) ?? new Map()).set(aspect, event));
  }
  const left = [...present.values()].flatMap((one) => [...one.values()]);
  return left.toSorted((a, b) => a.at.getTime() - b.at.getTime());
}

/** Of the same aspect the last event counts. */
const aspects: Partial<Record<TimelineEvent["kind"], string>> = {
  "node joined": "life",
  "node marked": "mark",
  "node released": "mark",
  "node handed over": "mark",
  "node user-held": "user",
  "node let go": "user",
  "node excluded": "label",
  "node included": "label",
  "hold started": "start",
  "hold extended": "end",
  "hold caused": "cause",
  "hold releasing": "release",
};
