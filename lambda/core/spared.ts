import type { Pause, Pauses } from "./pauses.ts";
import { type Bound, movingOf, type Room } from "./room.ts";

/**
 * The pauses, each that has just begun with the pods that Karpenter would have evicted then. Which node a pause is of is
 * not known, so all together have no more pods than the superfluous nodes.
 */
export function withPods(
  { open, gone, learned }: Pauses,
  superfluous: readonly Room[],
  podsOf: ReadonlyMap<string, readonly Bound[]>,
): Pauses {
  const counts = superfluous.map(({ name }) => {
    const moving = movingOf(podsOf.get(name));
    return moving.some(({ fixed }) => fixed) ? 0 : moving.length;
  });
  let left = counts.reduce((sum, count) => sum + count, 0) - podsIn(open.slice(gone));
  const counted = open.map((pause, index): Pause => {
    const count = counts[index - gone];
    if (count === undefined || pause.pods !== undefined) return pause;
    const pods = Math.max(0, Math.min(count, left));
    left -= pods;
    return { ...pause, pods };
  });
  return { open: counted, gone, learned };
}

type Ended = Readonly<{
  before: Pauses;
  ended: number;
  launched: number;
  needed: number;
  neededBefore: number;
}>;

/** How many superfluous nodes are needed again, and with them the pods that would have been evicted. */
export function sparedIn({ before, ended, launched, needed, neededBefore }: Ended) {
  // The pause of a node that is being removed, or left alone, ends too: then no more nodes are needed than before.
  const spared = Math.max(0, Math.min(ended - launched, needed - neededBefore));
  // The youngest pauses end, and of those the ones whose node is gone come first.
  const { open } = before;
  return { spared, evictionsSpared: podsIn(open.slice(open.length - spared)) };
}

const podsIn = (pauses: readonly Pause[]): number => pauses.reduce((sum, { pods = 0 }) => sum + pods, 0);
