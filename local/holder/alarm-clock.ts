import type { Clock } from "../../lambda/core/ports.ts";

/** Cancels an action that has not run yet. */
export type Cancel = () => void;

/** A clock that also runs actions, at their time or later, never earlier. */
export interface AlarmClock extends Clock {
  at(moment: Date, action: () => Promise<void>): Cancel;
}
