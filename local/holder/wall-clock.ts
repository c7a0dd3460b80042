import { type Duration, hours } from "../../lambda/core/duration.ts";
import type { Clock } from "../../lambda/core/ports.ts";
import type { AlarmClock, Cancel } from "./alarm-clock.ts";

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
