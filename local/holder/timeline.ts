import type { Scope } from "../../lambda/core/scope.ts";

/** Something that happened in the cluster or to a hold, as the timeline reports it. */
export type TimelineEvent = Readonly<{ at: Date }> &
  (
    | Readonly<{ kind: "launch"; instance: string }>
    | Readonly<{ kind: "node joined" | "node gone"; node: string; nodePool: string }>
    | Readonly<{ kind: "node marked"; node: string; holdId: string; before?: string }>
    | Readonly<{ kind: "node released"; node: string; holdId: string }>
    | Readonly<{ kind: "node user-held" | "node handed over" | "node let go"; node: string }>
    | Readonly<{ kind: "node excluded" | "node included"; node: string }>
    | Readonly<{ kind: "hold started"; scope: Scope; holdId: string; until: Date; because: string }>
    | Readonly<{ kind: "hold extended"; scope: Scope; holdId: string; until: Date }>
    | Readonly<{ kind: "hold caused"; scope: Scope; holdId: string; because: string }>
    | Readonly<{ kind: "hold releasing" | "hold ended"; scope: Scope; holdId: string; because: string }>
    | Readonly<{ kind: "release armed"; scope: Scope; holdId: string; until: Date }>
    | Readonly<{ kind: "release fired"; scope: Scope; holdId: string }>
    | Readonly<{ kind: "sweep" }>
    | Readonly<{ kind: "note"; text: string }>
  );

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
