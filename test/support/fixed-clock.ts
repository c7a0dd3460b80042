import { after, type Duration } from "../../lambda/core/duration.ts";
import type { Clock } from "../../lambda/core/ports.ts";
import { noon } from "../../simulator/virtual-clock.ts";

export { holdId } from "../../simulator/hold-ids.ts";
export { noon };

/** A clock that moves only when a test moves it. */
export class FixedClock implements Clock {
  #now: Date;

  constructor(now: Date = noon) {
    this.#now = now;
  }

  now(): Date {
    return new Date(this.#now);
  }

  pass(duration: Duration): Date {
    return this.set(after(this.#now, duration));
  }

  set(now: Date): Date {
    this.#now = now;
    return this.now();
  }
}
