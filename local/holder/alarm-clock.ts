import type { Clock } from "../../lambda/core/ports.ts";

/** Takes a action back that has not been done yet. */
export type Cancel = () => void;

/** A clock that also wakes: a action is done once its moment has come, never before. */
export interface AlarmClock extends Clock {
  at(moment: Date, action: () => Promise<void>): Cancel;
}
