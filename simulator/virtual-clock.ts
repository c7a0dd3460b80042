import { after, type Duration } from "../lambda/core/duration.ts";
import type { AlarmClock, Cancel } from "../local/holder/clock.ts";

type Entry = { moment: Date; action: () => Promise<void> | void };

/** The real duration of a jump from one moment to the next; zero unless a person watches. */
export type Pace = (from: Date, to: Date) => Promise<void>;

/** When simulated time begins. */
export const noon = new Date("2026-11-21T12:00:00.000Z");

/**
 * A clock that stands still while an action runs and then jumps to the next one.
 * The same actions run in the same order however slow the machine is.
 */
export class VirtualClock implements AlarmClock {
  #now: Date;
  #entries: Entry[] = [];
  readonly #pace: Pace | undefined;

  constructor(now: Date = noon, pace?: Pace) {
    this.#now = now;
    this.#pace = pace;
  }

  now(): Date {
    return new Date(this.#now);
  }

  at(moment: Date, action: () => Promise<void> | void): Cancel {
    const entry = { moment, action };
    this.#entries.push(entry);
    return () => {
      this.#entries = this.#entries.filter((one) => one !== entry);
    };
  }

  /** The moment of the next action. */
  get next(): Date | undefined {
    return this.#first()?.moment;
  }

  /** Jumps without running anything; what is overdue then runs late. */
  set(now: Date): Date {
    this.#now = now;
    return this.now();
  }

  /** Jumps ahead without running anything. */
  pass(duration: Duration): Date {
    return this.set(after(this.#now, duration));
  }

  /** Runs everything that is due until then, one action after the other, and leaves the clock there. */
  async runUntil(end: Date): Promise<void> {
    for (let next = this.#first(); next && next.moment <= end; next = this.#first()) {
      this.#entries.splice(this.#entries.indexOf(next), 1);
      await this.#moveTo(next.moment);
      await next.action();
    }
    await this.#moveTo(end);
  }

  #first(): Entry | undefined {
    let first: Entry | undefined;
    for (const entry of this.#entries) if (!first || entry.moment < first.moment) first = entry;
    return first;
  }

  async #moveTo(moment: Date): Promise<void> {
    if (moment <= this.#now) return;
    await this.#pace?.(this.#now, moment);
    this.#now = moment;
  }
}
