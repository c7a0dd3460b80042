import type { Duration } from "../duration.ts";

/** What held nodes were idle on one day (UTC), in time of one node. */
export type Spent = Readonly<{ day: string; idle: Duration }>;

export const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/** A gap counts on the day on which its hold ended; one that ended on an earlier day changes nothing. */
export function spentWith(spent: Spent | undefined, idle: Duration, at: Date): Spent {
  const day = dayOf(at);
  if (!spent || day > spent.day) return { day, idle };
  return day === spent.day ? { day, idle: spent.idle + idle } : spent;
}

/** Whether the budget of the day is spent. */
export const isSpent = (spent: Spent | undefined, budget: Duration, now: Date): boolean =>
  spent?.day === dayOf(now) && spent.idle >= budget;
