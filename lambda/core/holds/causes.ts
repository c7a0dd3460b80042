import { formatDuration, minutes } from "../duration.ts";
import type { Launch } from "../ports.ts";
import type { Causes, Hold, RequestCause } from "./hold.ts";

/** A record names this many NodePools: it is read and written as a whole, so it must stay small. */
const mostPools = 10;
const others = "others";

/** Counts launches by their NodePools. */
export function withLaunches(causes: Causes, launches: readonly Launch[]): Causes {
  const counts = new Map(Object.entries(causes.launches ?? {}));
  for (const { nodePool } of launches) {
    const name = counts.has(nodePool) || counts.size < mostPools ? nodePool : others;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return { ...causes, launches: Object.fromEntries(counts) };
}

export const withUse = (causes: Causes, usedAt: Date): Causes => ({
  ...causes,
  uses: (causes.uses ?? 0) + 1,
  usedAt,
});

export const withRequest = (causes: Causes, cause: RequestCause, reason: string): Causes => ({
  ...causes,
  [cause]: reason,
});

const requestCauses: readonly RequestCause[] = ["hand", "event", "window"];

/** Whether a person, an event or a window asked for the hold, and not launches alone. */
export const isRequested = (causes: Causes): boolean => requestCauses.some((cause) => causes[cause]);

/** All causes of a hold in one line. */
export function describeCauses({ causes, launches }: Pick<Hold, "causes" | "launches">): string {
  const pools = Object.entries(causes.launches ?? {});
  const inPools =
    pools.length === 1
      ? `in NodePool ${pools[0]?.[0]}`
      : `in NodePools ${pools.map(([pool, count]) => `${pool} (${count})`).join(", ")}`;
  const requests = requestCauses.flatMap((cause) => causes[cause] ?? []);
  const parts = [
    ...(pools.length > 0 ? [`${launches} ${launches === 1 ? "launch" : "launches"} ${inPools}`] : []),
    ...(causes.uses ? [`extended by use ${causes.uses === 1 ? "once" : `${causes.uses} times`}`] : []),
    ...requests,
  ];
  return parts.join("; ");
}

/** Why a hold ended, with what it is estimated to have cost and spared. */
export function describeEnd(because: string, { idleTime, spared = 0 }: Partial<Hold>): string {
  if (!idleTime) return because;
  const idle = formatDuration(Math.round(idleTime / minutes(1)) * minutes(1));
  return `${because} (idle ${idle} of node time, ${spared} ${spared === 1 ? "relaunch" : "relaunches"} spared)`;
}
