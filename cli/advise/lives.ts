import { readable } from "../terminal/text.ts";

/** One CloudTrail event about one instance. */
export type InstanceEvent = Readonly<{
  id: string;
  at: Date;
  instance: string;
  /** The role that asked for it. */
  by: string;
}> &
  (
    | Readonly<{ kind: "launched"; nodePool: string; instanceType?: string }>
    | Readonly<{ kind: "terminated" }>
  );

/** A node from its launch to its end, as far as either is known. */
export type NodeLife = Readonly<{
  instance: string;
  nodePool: string;
  instanceType?: string;
  launchedAt: Date;
  endedAt?: Date;
  /** Whether Karpenter terminated it, judged by the caller's identity. */
  endedBy?: "karpenter" | "others";
}>;

/** Joins launches and terminations; terminations of other instances are ignored. */
export function nodeLives(events: readonly InstanceEvent[]): readonly NodeLife[] {
  const ordered = events.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const ends = new Map<string, InstanceEvent>();
  for (const event of ordered) {
    // Terminating an instance again changes nothing: the first time counts.
    if (event.kind === "terminated" && !ends.has(event.instance)) ends.set(event.instance, event);
  }
  const lives = new Map<string, NodeLife>();
  for (const event of ordered) {
    // A fleet's launch is recorded twice: the fleet's call and the call it made.
    if (event.kind !== "launched" || lives.has(event.instance)) continue;
    lives.set(event.instance, lifeOf(event, ends.get(event.instance)));
  }
  return [...lives.values()];
}

function lifeOf(
  launch: Extract<InstanceEvent, { kind: "launched" }>,
  end: InstanceEvent | undefined,
): NodeLife {
  const { instance, nodePool, instanceType, at, by } = launch;
  return {
    instance,
    nodePool: readable(nodePool),
    launchedAt: at,
    ...(instanceType && { instanceType: readable(instanceType) }),
    ...(end && { endedAt: end.at, endedBy: end.by === by ? "karpenter" : "others" }),
  };
}
