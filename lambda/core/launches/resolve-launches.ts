import { after, type Duration, earlier, minutes, seconds } from "../duration.ts";
import { delayOf, giveUpAfter } from "../holds/pending-nodes.ts";
import type { Context, Instance, Launch, LaunchEvent } from "../ports.ts";
import { admits } from "../scope.ts";
import { holdNodes } from "./hold-nodes.ts";
import type { LaunchBatch } from "./merge-messages.ts";

/** Finds out which of the instances are this cluster's Karpenter nodes, and holds for those. */
export async function resolveLaunches(context: Context, heard: LaunchBatch): Promise<void> {
  const { launches, attempt } = heard;
  if (attempt === 0) context.metrics.add("LaunchesSeen", launches.length);
  if (attempt === 0 && context.rules.initialDelay > 0) {
    return context.followUps.enqueue({ kind: "launches", ...heard, attempt: 1 }, context.rules.initialDelay);
  }
  const known = await context.launches.find(
    launches.map((launch) => launch.instance),
    context,
  );
  // An event from the future would hold for longer than any launch may; seconds are how clocks differ.
  const newest = after(context.clock.now(), minutes(1));
  const ours: Launch[] = [];
  const unknown: LaunchEvent[] = [];
  for (const launch of launches) {
    const instance = known.get(launch.instance);
    if (!instance) unknown.push(launch);
    else if (isOurs(context, instance)) {
      ours.push({ ...launch, launchedAt: earlier(launch.launchedAt, newest), nodePool: instance.nodePool });
    }
  }
  // Holding first: should it fail, all of these come again by themselves.
  await holdNodes(context, ours, heard);
  await retryUnknown(context, unknown, heard);
}

function isOurs(context: Context, instance: Instance): instance is Instance & { nodePool: string } {
  if (instance.nodePool !== undefined && admits(context.rules.nodePools, instance.nodePool)) return true;
  context.log.info("launch decided", {
    action: "ignore",
    because: instance.nodePool
      ? `NodePool ${instance.nodePool} is left out by the settings, or none can have this name`
      : "it is not a node of this cluster's Karpenter",
    instances: [instance.id],
  });
  context.metrics.add("LaunchesIgnored", 1);
  return false;
}

/** Most instances are known to EC2, with their tags, seconds after their launch. */
const soon = [2, 5].map(seconds);
const unknownDelayOf = (attempt: number): Duration => soon[attempt] ?? delayOf(attempt - soon.length);

/** EC2 answers late for an instance launched a moment ago. */
async function retryUnknown(
  context: Context,
  unknown: readonly LaunchEvent[],
  heard: LaunchBatch,
): Promise<void> {
  if (unknown.length === 0) return;
  const { firstSeenAt, attempt } = heard;
  if (context.clock.now() >= after(firstSeenAt, giveUpAfter + context.rules.initialDelay)) {
    context.log.warn("launch decided", {
      action: "ignore",
      because: "the cloud does not know the instance",
      instances: unknown.map(({ instance }) => instance),
    });
    context.metrics.add("LaunchesIgnored", unknown.length);
    return;
  }
  const followUp = { kind: "launches", launches: unknown, firstSeenAt, attempt: attempt + 1 } as const;
  await context.followUps.enqueue(followUp, unknownDelayOf(attempt));
}
