import { type Agreement, agreementOf, type Counted } from "./agreement.ts";
import { figuresOf } from "./figures.ts";
import type { Played } from "./play.ts";
import { playInVirtualTime } from "./virtual.ts";

/** Plays in virtual time, so many times, what was played on the wall clock, and compares the two. */
export async function compare(played: Played, chances: number): Promise<Agreement> {
  const virtual: Counted[] = [];
  for (let chance = 1; chance <= chances; chance++) virtual.push(await countedInVirtualTime(played, chance));
  return agreementOf(countedOnWallClock(played), virtual);
}

export async function countedInVirtualTime(played: Played, chance: number): Promise<Counted> {
  const { nodeMinutes, launched, evicted, jobsKilled, wait95 } = await playInVirtualTime(played, chance);
  return { nodeMinutes, launched, evicted: evicted + jobsKilled, wait95 };
}

function countedOnWallClock(played: Played): Counted {
  const { nodeMinutes, launched, servicePodsEvicted, jobsRestarted, wait95th = 0 } = figuresOf(played);
  return { nodeMinutes, launched, evicted: servicePodsEvicted + jobsRestarted, wait95: wait95th };
}
