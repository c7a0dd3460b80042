import { after, earlier, minutes } from "../duration.ts";
import type { Instance, Launch, LaunchEvent, Ports } from "../ports.ts";
import { admits } from "../scope.ts";
import { holdNodes } from "./hold-nodes.ts";
import { delayOf, giveUpAfter } from "./pending-nodes.ts";

export type LaunchBatch = Readonly<{ launches: readonly LaunchEvent[]; firstHeardAt: Date; attempt: number }>;

/** Finds out which of the instances are this cluster's Karpenter nodes, and holds for those. */
export async function resolveLaunches(ports: Ports, heard: LaunchBatch, deadline: Date): Promise<void> {
  const { launches, attempt } = heard;
  if (attempt === 0) ports.metrics.add("LaunchesSeen", launches.length);
  if (attempt === 0 && ports.rules.initialDelay > 0) {
    return ports.followUps.enqueue({ kind: "launches", ...heard, attempt: 1 }, ports.rules.initialDelay);
  }
  const known = await ports.launches.find(launches.map((launch) => launch.instance));
  // An event from the future would hold for longer than any launch may; seconds are how clocks differ.
  const newest = after(ports.clock.now(), minutes(1));
  const ours: Launch[] = [];
  const unknown: LaunchEvent[] = [];
  for (const launch of launches) {
    const instance = known.get(launch.instance);
    if (!instance) unknown.push(launch);
    else if (isOurs(ports, instance)) {
      ours.push({ ...launch, launchedAt: earlier(launch.launchedAt, newest), nodePool: instance.nodePool });
    }
  }
  // Holding first: should it fail, all of these come again by themselves.
  await holdNodes(ports, ours, deadline);
  await retryUnknown(ports, unknown, heard);
}

function isOurs(ports: Ports, instance: Instance): instance is Instance & { nodePool: string } {
  if (instance.nodePool !== undefined && admits(ports.rules.nodePools, instance.nodePool)) return true;
  const because = instance.nodePool
    ? `NodePool ${instance.nodePool} is left out by the settings, or none can have this name`
    : "it is not a node of this cluster's Karpenter";
  ports.log.info("launch decided", { action: "ignore", because, instances: [instance.id] });
  ports.metrics.add("LaunchesIgnored", 1);
  return false;
}

/** EC2 answers late for an instance launched a moment ago. */
async function retryUnknown(
  ports: Ports,
  unknown: readonly LaunchEvent[],
  heard: LaunchBatch,
): Promise<void> {
  if (unknown.length === 0) return;
  const { firstHeardAt, attempt } = heard;
  const instances = unknown.map((launch) => launch.instance);
  if (ports.clock.now() >= after(firstHeardAt, giveUpAfter + ports.rules.initialDelay)) {
    ports.log.warn("launch decided", {
      action: "ignore",
      because: "the cloud does not know the instance",
      instances,
    });
    ports.metrics.add("LaunchesIgnored", unknown.length);
    return;
  }
  const followUp = { kind: "launches", launches: unknown, firstHeardAt, attempt: attempt + 1 } as const;
  await ports.followUps.enqueue(followUp, delayOf(attempt));
}
