import type { Scope } from "../../lambda/core/scope.ts";

/** Something that happened in the cluster or to a hold, as the timeline tells it. */
export type Happening = Readonly<{ at: Date }> &
  (
    | Readonly<{ kind: "launch"; instance: string }>
    | Readonly<{ kind: "node joined" | "node gone"; node: string; nodePool: string }>
    | Readonly<{ kind: "node marked" | "node released"; node: string; holdId: string }>
    | Readonly<{ kind: "node user-held" | "node handed over" | "node let go"; node: string }>
    | Readonly<{ kind: "hold started"; scope: Scope; holdId: string; until: Date; because: string }>
    | Readonly<{ kind: "hold extended"; scope: Scope; holdId: string; until: Date }>
    | Readonly<{ kind: "hold releasing" | "hold ended"; scope: Scope; holdId: string; because: string }>
    | Readonly<{ kind: "release armed"; scope: Scope; holdId: string; until: Date }>
    | Readonly<{ kind: "release fired"; scope: Scope; holdId: string }>
    | Readonly<{ kind: "sweep" }>
    | Readonly<{ kind: "note"; text: string }>
  );

/** A happening before the chronicle has put its time to it. */
export type Told<T = Happening> = T extends Happening ? Omit<T, "at"> : never;

type Listener = (happening: Happening) => void;

const longest = 10_000;

/** Keeps what happened, in order, and tells it to whoever follows. */
export class Chronicle {
  readonly #now: () => Date;
  readonly #listeners = new Set<Listener>();
  #happenings: Happening[] = [];

  constructor(now: () => Date) {
    this.#now = now;
  }

  get happenings(): readonly Happening[] {
    return this.#happenings;
  }

  tell(told: Told): void {
    const happening: Happening = { ...told, at: this.#now() };
    this.#happenings.push(happening);
    if (this.#happenings.length > longest) this.#happenings = this.#happenings.slice(-longest / 2);
    for (const listener of this.#listeners) listener(happening);
  }

  /** Tells everything from now on, until it is taken back. */
  follow(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
