import type { Clock } from "../../lambda/core/ports.ts";

/** Takes a deed back that has not been done yet. */
export type TakeBack = () => void;

/** A clock that also wakes: a deed is done once its moment has come, never before. */
export interface AlarmClock extends Clock {
  at(moment: Date, deed: () => Promise<void>): TakeBack;
}
