import { after, type Duration, earlier, later, minutes } from "../duration.ts";
import type { FollowUp, LaunchEvent } from "../ports.ts";
import type { Scope } from "../scope.ts";

/** Launches that are handled together: new ones, or retried ones with the same attempt. */
export type LaunchBatch = Readonly<{ launches: readonly LaunchEvent[]; firstSeenAt: Date; attempt: number }>;

export type PendingNodesFollowUp = Extract<FollowUp, { kind: "pendingNodes" }>;

/** How far two clocks may differ. */
const clockSkew: Duration = minutes(1);

/** Merges new launches into one batch, and retried launches into one batch for each attempt. */
export function mergeLaunches(
  launches: readonly LaunchEvent[],
  followUps: readonly FollowUp[],
  now: Date,
): readonly LaunchBatch[] {
  const batches = new Map<number, LaunchBatch>();
  const add = (attempt: number, firstSeenAt: Date, more: readonly LaunchEvent[]) => {
    const same = batches.get(attempt);
    batches.set(attempt, {
      attempt,
      launches: unique([...(same?.launches ?? []), ...more]),
      // The latest, so that no instance is given up before its time.
      firstSeenAt: same ? later(same.firstSeenAt, firstSeenAt) : firstSeenAt,
    });
  };
  if (launches.length > 0) add(0, now, launches);
  for (const followUp of followUps) {
    if (followUp.kind !== "launches") continue;
    // A time in the future would never be long enough ago to give up.
    add(followUp.attempt, earlier(followUp.firstSeenAt, now), followUp.launches);
  }
  return [...batches.values()];
}

/** One check per scope, however many messages ask for it. */
export function mergePendingNodes(
  followUps: readonly FollowUp[],
  now: Date,
): readonly PendingNodesFollowUp[] {
  const scopes = new Map<Scope, PendingNodesFollowUp>();
  for (const next of followUps) {
    if (next.kind !== "pendingNodes") continue;
    const same = scopes.get(next.scope);
    const awaited = unique([...(same?.awaited ?? []), ...next.awaited]).map((launch) => ({
      ...launch,
      launchedAt: earlier(launch.launchedAt, after(now, clockSkew)),
    }));
    const attempt = Math.min(same?.attempt ?? next.attempt, next.attempt);
    scopes.set(next.scope, { ...next, awaited, attempt });
  }
  return [...scopes.values()];
}

/** A duplicate event is the same launch; the later time counts. */
const unique = (launches: readonly LaunchEvent[]): LaunchEvent[] => [
  ...new Map(
    launches
      .toSorted((a, b) => a.launchedAt.getTime() - b.launchedAt.getTime())
      .map((one) => [one.instance, one]),
  ).values(),
];
