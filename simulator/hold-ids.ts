import { holdIdOf } from "../lambda/core/marks/hold-id.ts";
import type { Ids } from "../lambda/core/ports.ts";
import { noon } from "./virtual-clock.ts";

/** The id of the nth hold of a test, which starts at noon if nothing else is said. */
export const holdId = (nth: number, startedAt = noon): string =>
  holdIdOf(startedAt, `hold${nth.toString(36).padStart(2, "0")}`);

/** Gives holds the ids `holdId(1, …)`, `holdId(2, …)` and so on, with the time at which each starts. */
export function countedIds(): Ids {
  let count = 0;
  return { newHoldId: (now) => holdId(++count, now) };
}
