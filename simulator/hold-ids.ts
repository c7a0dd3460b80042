import { after, seconds } from "../lambda/core/duration.ts";
import { holdIdOf } from "../lambda/core/marks/hold-id.ts";
import type { Ids } from "../lambda/core/ports.ts";
import { noon } from "./virtual-clock.ts";

/** The id of the nth hold of a test; like real ids they sort by n. */
export const holdId = (nth: number): string => holdIdOf(after(noon, seconds(nth)), "number");

/** Ids by the clock of the function, as in AWS: they need not grow where clocks differ. */
export function timedIds(): Ids {
  let count = 0;
  return { newHoldId: (now) => holdIdOf(now, (++count).toString(36).padStart(6, "0")) };
}

/** Gives holds the ids `holdId(1)`, `holdId(2)` and so on. */
export function countedIds(): Ids {
  let count = 0;
  return { newHoldId: () => holdId(++count) };
}
