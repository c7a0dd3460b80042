import { after, type Duration, seconds } from "../../lambda/core/duration.ts";
import { parseNode } from "../../lambda/kubernetes/node-objects.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import type { LocalWorld } from "../local-world.ts";

const lookEvery: Duration = seconds(10);
/** A new node is left alone for so long, as Karpenter does with nodes that have only just come up. */
const recent: Duration = seconds(45);

/** Takes a new node away now and then unless it is annotated: what Karpenter does to nodes nobody needs. */
export function tidyUp(world: LocalWorld, stays: readonly string[], annotation: string): () => void {
  const timer = setInterval(() => {
    const nodes = world.cluster.nodes().map(parseNode);
    const free = nodes.find(({ name, annotations }) => !stays.includes(name) && !annotations?.[annotation]);
    if (free && after(free.createdAt, recent) < systemClock.now()) world.ec2.terminate(free.name);
  }, lookEvery);
  return () => clearInterval(timer);
}
