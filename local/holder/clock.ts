import { type Duration, minutes } from "../../lambda/core/duration.ts";
import type { Clock } from "../../lambda/core/ports.ts";

/** Cancels an action that has not run yet. */
export type Cancel = () => void;

/** A clock that also runs actions, at their time or later; never earlier, unless it is set back. */
export interface AlarmClock extends Clock {
  at(moment: Date, action: () => Promise<void>): Cancel;
}

/** A laptop that slept, or a clock that was set, is noticed within this time. */
const longestNap: Duration = minutes(1);

/** Runs actions by the system's time. */
export class WallClock implements AlarmClock {
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): Date {
    return this.#clock.now();
  }

  at(moment: Date, action: () => Promise<void>): Cancel {
    let timer: NodeJS.Timeout;
    const untilThen = () => moment.getTime() - this.now().getTime();
    // Sweeps must not wait for a clock that was set back.
    const latest = performance.now() + untilThen() + longestNap;
    const look = () => {
      const left = Math.min(untilThen(), latest - performance.now());
      if (left <= 0) void action();
      else timer = setTimeout(look, Math.min(left, longestNap));
    };
    timer = setTimeout(look, 0);
    return () => clearTimeout(timer);
  }
}
