import type { Launch } from "../ports.ts";
import type { Causes, Hold, Wish } from "./hold.ts";

/** A record is read and written whole, so it names no more NodePools than these. */
const mostPools = 10;
const others = "others";

/** Counts launches by their NodePools. */
export function withLaunches(causes: Causes | undefined, launches: readonly Launch[]): Causes {
  const counts = new Map(Object.entries(causes?.launches ?? {}));
  for (const { nodePool } of launches) {
    const name = counts.has(nodePool) || counts.size < mostPools ? nodePool : others;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return { ...causes, ...(counts.size > 0 && { launches: Object.fromEntries(counts) }) };
}

export const withUse = (causes: Causes | undefined, usedAt: Date): Causes => ({
  ...causes,
  uses: (causes?.uses ?? 0) + 1,
  usedAt,
});

export const withWish = (causes: Causes | undefined, wish: Wish, reason: string): Causes => ({
  ...causes,
  [wish]: reason,
});

/** All causes of a hold in one line; holds of earlier versions know no more than how they began. */
export function describeCauses({
  causes,
  startedBecause,
  launches,
}: Pick<Hold, "causes" | "startedBecause" | "launches">): string {
  if (!causes) return startedBecause;
  const pools = Object.entries(causes.launches ?? {});
  const inPools =
    pools.length === 1
      ? `in NodePool ${pools[0]?.[0]}`
      : `in NodePools ${pools.map(([pool, count]) => `${pool} (${count})`).join(", ")}`;
  const wishes = (["hand", "event", "window"] as const).flatMap((wish) => causes[wish] ?? []);
  const parts = [
    ...(pools.length > 0 ? [`${launches} ${launches === 1 ? "launch" : "launches"} ${inPools}`] : []),
    ...(causes.uses ? [`extended by use ${causes.uses === 1 ? "once" : `${causes.uses} times`}`] : []),
    ...wishes,
  ];
  return parts.join("; ") || startedBecause;
}
