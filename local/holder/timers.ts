import type { Schedules } from "../../lambda/core/ports.ts";
import type { Scope } from "../../lambda/core/scope.ts";
import type { AlarmClock, Cancel } from "./alarm-clock.ts";

/** What a one-shot brings when it fires. */
export type Expired = Readonly<{ scope: Scope; holdId: string }>;

/** One-shots within one process; they are lost with it, and armed anew by the sweep at its next start. */
export class Timers implements Schedules {
  readonly #clock: AlarmClock;
  readonly #fire: (expired: Expired) => Promise<void>;
  readonly #onArmed: (expired: Expired, at: Date) => void;
  readonly #armed = new Map<string, Cancel>();
  #isClosed = false;

  constructor(
    clock: AlarmClock,
    fire: (expired: Expired) => Promise<void>,
    onArmed: (expired: Expired, at: Date) => void = () => {},
  ) {
    this.#clock = clock;
    this.#fire = fire;
    this.#onArmed = onArmed;
  }

  async arm(scope: Scope, holdId: string, at: Date): Promise<"armed" | "already armed"> {
    const name = `${holdId}-${at.getTime()}`;
    if (this.#armed.has(name)) return "already armed";
    // The process ends: the sweep at its next start arms what is on record.
    if (this.#isClosed) return "armed";
    const cancel = this.#clock.at(at, async () => {
      this.#armed.delete(name);
      await this.#fire({ scope, holdId });
    });
    this.#armed.set(name, cancel);
    this.#onArmed({ scope, holdId }, at);
    return "armed";
  }

  /** Lets none fire any more. */
  close(): void {
    this.#isClosed = true;
    this.loseAll();
  }

  /** Forgets every one-shot; tells how many there were. */
  loseAll(): number {
    const count = this.#armed.size;
    for (const cancel of this.#armed.values()) cancel();
    this.#armed.clear();
    return count;
  }
}
