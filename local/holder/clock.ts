import { type Duration, hours } from "../../lambda/core/duration.ts";
import type { Clock } from "../../lambda/core/ports.ts";

/** Cancels an action that has not run yet. */
export type Cancel = () => void;

/** A clock that also runs actions, at their time or later, never earlier. */
export interface AlarmClock extends Clock {
  at(moment: Date, action: () => Promise<void>): Cancel;
}

/** A timer of Node lasts 24 days at most, and a laptop that slept should notice soon. */
const longestNap: Duration = hours(1);

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
    const look = () => {
      const left = moment.getTime() - this.now().getTime();
      if (left <= 0) void action();
      else timer = setTimeout(look, Math.min(left, longestNap));
    };
    timer = setTimeout(look, 0);
    return () => clearTimeout(timer);
  }
}
