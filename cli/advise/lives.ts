/** One CloudTrail event about one instance: its launch, or its end. */
export type InstanceEvent = Readonly<{
  at: Date;
  instance: string;
  /** The role that asked for it. */
  by: string;
  /** Of a launch. */
  nodePool?: string;
}>;

type Launch = Required<InstanceEvent>;
export const isLaunch = (event: InstanceEvent): event is Launch => event.nodePool !== undefined;

/** A node from its launch to its end, as far as that is known. */
export type NodeLife = Readonly<{
  instance: string;
  nodePool: string;
  launchedAt: Date;
  endedAt?: Date;
  /** Whether Karpenter terminated it, judged by the caller's identity. */
  endedBy?: "karpenter" | "others";
}>;

/** Joins launches and terminations; terminations of other instances are ignored. */
export function nodeLives(events: readonly InstanceEvent[]): readonly NodeLife[] {
  const ordered = events.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  // A fleet's launch is recorded twice, and terminating an instance again changes nothing: the first time counts.
  const first = (all: readonly InstanceEvent[]) =>
    new Map(all.toReversed().map((event) => [event.instance, event]));
  const ends = first(ordered.filter((event) => !isLaunch(event)));
  const launches = [...first(ordered.filter(isLaunch)).values()].filter(isLaunch);
  return launches.map(({ instance, nodePool, at, by }) => {
    const end = ends.get(instance);
    const endedBy = end?.by === by ? "karpenter" : "others";
    return { instance, nodePool, launchedAt: at, ...(end && { endedAt: end.at, endedBy }) };
  });
}
