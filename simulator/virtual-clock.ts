import type { AlarmClock, Cancel } from "../local/holder/alarm-clock.ts";

type Entry = { moment: Date; action: () => Promise<void> };

/** What passes on the wall while the clock jumps from one moment to the next; nothing, unless a story wants it. */
export type Pace = (from: Date, to: Date) => Promise<void>;

/**
 * A clock that stands still while anything is being done and then jumps to the next action.
 * The same actions happen in the same order however slow the machine is.
 */
export class FastClock implements AlarmClock {
  #now: Date;
  #waiting: Entry[] = [];
  readonly #pace: Pace;

  constructor(now: Date, pace: Pace = async () => {}) {
    this.#now = now;
    this.#pace = pace;
  }

  now(): Date {
    return new Date(this.#now);
  }

  at(moment: Date, action: () => Promise<void>): Cancel {
    const entry = { moment, action };
    this.#waiting.push(entry);
    return () => {
      this.#waiting = this.#waiting.filter((one) => one !== entry);
    };
  }

  /** Does everything that is due up to then, one action after the other, and leaves the clock there. */
  async runUntil(end: Date): Promise<void> {
    for (let next = this.#takeNext(end); next; next = this.#takeNext(end)) {
      await this.#moveTo(next.moment);
      await next.action();
    }
    await this.#moveTo(end);
  }

  #takeNext(end: Date): Entry | undefined {
    const first = this.#waiting.reduce<Entry | undefined>(
      (a, b) => (a && a.moment <= b.moment ? a : b),
      undefined,
    );
    if (!first || first.moment > end) return undefined;
    this.#waiting = this.#waiting.filter((one) => one !== first);
    return first;
  }

  async #moveTo(moment: Date): Promise<void> {
    if (moment <= this.#now) return;
    await this.#pace(this.#now, moment);
    this.#now = moment;
  }
}
