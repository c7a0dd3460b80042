import type { TimelineEvent } from "../../report/timeline/events.ts";

export type { TimelineEvent };

/** An event before the timeline adds its time. */
export type NewEvent<T = TimelineEvent> = T extends TimelineEvent ? Omit<T, "at"> : never;

type Listener = (event: TimelineEvent) => void;

const longest = 10_000;

/** Records events in order and passes them to its listeners. */
export class Timeline {
  readonly #now: () => Date;
  readonly #listeners = new Set<Listener>();
  #events: TimelineEvent[] = [];

  constructor(now: () => Date) {
    this.#now = now;
  }

  get events(): readonly TimelineEvent[] {
    return this.#events;
  }

  record(reported: NewEvent): void {
    const event: TimelineEvent = { ...reported, at: this.#now() };
    this.#events.push(event);
    if (this.#events.length > longest) this.#events = this.#events.slice(-longest / 2);
    for (const listener of this.#listeners) listener(event);
  }

  /** Calls the listener for every event from now on, until it is cancelled. */
  follow(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
