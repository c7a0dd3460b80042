import { after, type Duration } from "../../lambda/core/duration.ts";
import { holdIdOf } from "../../lambda/core/marks/hold-id.ts";
import type { Clock, Ids } from "../../lambda/core/ports.ts";

/** When the tests' time begins. */
export const noon = new Date("2026-11-21T12:00:00.000Z");

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

/** The id of the test's nth hold. */
export const holdId = (nth: number): string => holdIdOf(noon, `hold${nth}`.padEnd(6, "x"));

/** Gives holds the ids `holdId(1)`, `holdId(2)` and so on. */
export class CountedIds implements Ids {
  #count = 0;

  newHoldId(): string {
    this.#count += 1;
    return holdId(this.#count);
  }
}
