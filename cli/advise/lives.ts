import type { Lived } from "./history.ts";

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

/** Joins launches since a moment and terminations; those of other instances are ignored. */
export function livedIn(events: readonly InstanceEvent[], from: Date): Lived {
  const ordered = events.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  // A fleet's launch is recorded twice, and terminating an instance again changes nothing: the first time counts.
  const first = (all: readonly InstanceEvent[]) =>
    new Map(all.toReversed().map((event) => [event.instance, event]));
  const ends = first(ordered.filter((event) => !isLaunch(event)));
  const launches = [...first(ordered.filter(isLaunch)).values()]
    .filter(isLaunch)
    .filter(({ at }) => at >= from);
  const ended = launches.flatMap(({ instance: node, nodePool, by }) => {
    const end = ends.get(node);
    return end ? [{ node, nodePool, at: end.at, reason: "", isChosen: end.by === by }] : [];
  });
  return {
    launches: launches.map(({ instance: node, nodePool, at }) => ({ node, nodePool, at })),
    // Karpenter's own, judged by the caller's identity.
    removals: ended.filter(({ isChosen }) => isChosen),
    ended: ended.map(({ node }) => node),
  };
}
