import { after, type Duration, seconds } from "../../lambda/core/duration.ts";
import { parseNode } from "../../lambda/kubernetes/node-objects.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import type { LocalWorld } from "../local-world.ts";

const lookEvery: Duration = seconds(10);
/** A new node is not removed before this age, as in Karpenter. */
const recent: Duration = seconds(45);

/** Removes unannotated new nodes from time to time, as Karpenter removes empty nodes. */
export function tidyUp(world: LocalWorld, stays: readonly string[], annotation: string): () => void {
  const timer = setInterval(() => {
    const nodes = world.cluster.nodes().map(parseNode);
    const free = nodes.find(({ name, annotations }) => !stays.includes(name) && !annotations?.[annotation]);
    if (free && after(free.createdAt, recent) < systemClock.now()) world.ec2.terminate(free.name);
  }, lookEvery);
  return () => clearInterval(timer);
}
