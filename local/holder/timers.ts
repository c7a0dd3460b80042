import { after, type Duration } from "../../lambda/core/duration.ts";
import type { Schedules } from "../../lambda/core/ports.ts";
import type { Scope } from "../../lambda/core/scope.ts";
import type { AlarmClock, Cancel } from "./clock.ts";

/** The payload of a one-shot. */
export type Expired = Readonly<{ scope: Scope; holdId: string }>;

/** The one-shots of one process; they are lost with it, and the sweep at its next start arms them again. */
export class Timers implements Schedules {
  readonly #clock: AlarmClock;
  readonly #fire: (expired: Expired) => Promise<void>;
  readonly #lateness: () => Duration;
  /** By hold and time: the same hold and time is the same one-shot. */
  readonly #cancels = new Map<string, Cancel>();
  #isClosed = false;

  constructor(clock: AlarmClock, fire: (expired: Expired) => Promise<void>, lateness = () => 0) {
    this.#clock = clock;
    this.#fire = fire;
    this.#lateness = lateness;
  }

  async arm(scope: Scope, holdId: string, at: Date): Promise<"armed" | "already armed"> {
    // The process ends: the sweep at its next start arms the recorded holds.
    if (this.#isClosed) return "armed";
    const name = `${holdId}-${at.getTime()}`;
    if (this.#cancels.has(name)) return "already armed";
    const cancel = this.#clock.at(after(at, this.#lateness()), async () => {
      this.#cancels.delete(name);
      await this.#fire({ scope, holdId });
    });
    this.#cancels.set(name, cancel);
    return "armed";
  }

  /** From now on none fires. */
  close(): void {
    this.#isClosed = true;
    this.loseAll();
  }

  /** Forgets every one-shot; returns how many there were. */
  loseAll(): number {
    const count = this.#cancels.size;
    for (const cancel of this.#cancels.values()) cancel();
    this.#cancels.clear();
    return count;
  }
}
