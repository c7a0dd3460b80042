import { after, type Duration, earlier, later, minutes, seconds } from "./duration.ts";
import type { Context, FollowUp, FollowUps, Instance, Launch, LaunchEvent } from "./ports.ts";
import { admits } from "./scope.ts";

/** Launches that are handled together: new ones, or retried ones with the same attempt. */
export type LaunchBatch = Readonly<{ launches: readonly LaunchEvent[]; firstSeenAt: Date; attempt: number }>;

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

/** A duplicate event is the same launch; the later time counts. */
const unique = (launches: readonly LaunchEvent[]): LaunchEvent[] => [
  ...new Map(
    launches
      .toSorted((a, b) => a.launchedAt.getTime() - b.launchedAt.getTime())
      .map((one) => [one.instance, one]),
  ).values(),
];

/** Known launches do not wait for others that could not be queued: these fail their batch after all work is done. */
export type Resolved = Readonly<{ launches: readonly Launch[]; failures: readonly unknown[] }>;

/** Finds out which of the instances are this cluster's Karpenter nodes. What is not known yet is queued again. */
export async function resolveLaunches(outer: Context, batch: LaunchBatch): Promise<Resolved> {
  const failures: unknown[] = [];
  const context = { ...outer, followUps: collecting(outer.followUps, failures) };
  const { metrics, clock } = context;
  if (batch.attempt === 0) metrics.add("LaunchesSeen", batch.launches.length);
  const launches = await delayEarly(context, batch);
  if (launches.length === 0) return { launches: [], failures };
  const ids = launches.map((launch) => launch.instance);
  const known = await context.launches.find(ids, context);
  await retryUnknown(
    context,
    launches.filter(({ instance }) => !known.has(instance)),
    batch,
  );
  const now = clock.now();
  const found = launches.flatMap((launch): Launch[] => {
    const instance = known.get(launch.instance);
    if (!instance || !isOurs(context, instance)) return [];
    // An event from the future would hold for longer than any launch may, and one that is late must count by its launch.
    const launchedAt = earlier(launch.launchedAt, earlier(instance.launchedAt, now));
    return [{ ...launch, launchedAt, nodePool: instance.nodePool }];
  });
  return { launches: found, failures };
}

/** Queues, and collects why that failed. */
const collecting = (followUps: FollowUps, failures: unknown[]): FollowUps => ({
  enqueue: (followUp, delay) =>
    followUps.enqueue(followUp, delay).catch((error: unknown) => void failures.push(error)),
});

/** The next function's clock may be behind; by that, too, the delay must be over. */
const clocksDiffer: Duration = seconds(5);

/** Queues the launches whose initial delay is not over, and returns the others; one that was queued is due. */
async function delayEarly(context: Context, batch: LaunchBatch): Promise<readonly LaunchEvent[]> {
  const { launches, attempt } = batch;
  const { initialDelay } = context.rules;
  if (attempt > 0 || initialDelay === 0) return launches;
  const now = context.clock.now().getTime();
  const restOf = ({ launchedAt }: LaunchEvent) =>
    Math.min(initialDelay, launchedAt.getTime() + initialDelay - now);
  const early = launches.filter((launch) => restOf(launch) > 0);
  if (early.length > 0) {
    const followUp = { kind: "launches", ...batch, launches: early, attempt: 1 } as const;
    await context.followUps.enqueue(followUp, Math.max(...early.map(restOf)) + clocksDiffer);
  }
  return launches.filter((launch) => restOf(launch) <= 0);
}

function isOurs(context: Context, instance: Instance): instance is Instance & { nodePool: string } {
  if (instance.nodePool !== undefined && admits(context.rules.nodePools, instance.nodePool)) return true;
  const because = instance.nodePool
    ? `the settings leave out NodePool ${instance.nodePool}, or its name is not valid`
    : "it is not a node of this cluster's Karpenter";
  context.log.info("launch ignored", { because, instances: [instance.id] });
  context.metrics.add("LaunchesIgnored", 1);
  return false;
}

/** The cloud knows most instances, with their tags, seconds after their launch. */
const delays: readonly Duration[] = [2, 5, 15, 15, 20, 30, 30, 60, 60].map(seconds);
const giveUpAfter: Duration = minutes(10);

/** Queues the launches of instances that the cloud does not know yet. */
async function retryUnknown(
  context: Context,
  unknown: readonly LaunchEvent[],
  { firstSeenAt, attempt }: LaunchBatch,
): Promise<void> {
  if (unknown.length === 0) return;
  if (context.clock.now() >= after(firstSeenAt, giveUpAfter + context.rules.initialDelay)) {
    const instances = unknown.map(({ instance }) => instance);
    context.log.warn("launch ignored", { because: "the cloud does not know the instance", instances });
    context.metrics.add("LaunchesIgnored", unknown.length);
    return;
  }
  const followUp = { kind: "launches", launches: unknown, firstSeenAt, attempt: attempt + 1 } as const;
  await context.followUps.enqueue(followUp, delays[attempt] ?? minutes(2));
}
