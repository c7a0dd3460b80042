import { Karpenter } from "./marks/keys.ts";
import { type Bound, type Room, sharesUsed } from "./room.ts";

/**
 * The share of a node's time that is wasted because a node of half its size, or a quarter, would do. Where all nodes of its
 * NodePool have one size, Karpenter launches no smaller one for it.
 */
export function sharesWasted(nodes: readonly Room[]): (room: Room, pods: readonly Bound[]) => number {
  const pools = Map.groupBy(
    nodes.filter(({ isOpen }) => isOpen),
    poolOf,
  );
  const hasOneSize = new Map([...pools].map(([pool, rooms]) => [pool, areOfOneSize(rooms)]));
  return (room, pods) => (hasOneSize.get(poolOf(room)) ? 0 : shareWasted(room, pods));
}

const poolOf = ({ labels }: Room): string =>
  Object.values(Karpenter).flatMap(({ poolLabel }) => labels[poolLabel] ?? [])[0] ?? "";

function areOfOneSize(rooms: readonly Room[]): boolean {
  const sizes = rooms.map(({ allocatable }) => allocatable.cpu ?? 0);
  return Math.min(...sizes) > 0.9 * Math.max(...sizes);
}

/** A node's allocatable resources are less than the half of those of a node of twice the size. */
const overhead = 0.93;

/** There is hardly a smaller node than one of two cores. */
const smallestCpu = 2_000;

function shareWasted(room: Room, pods: readonly Bound[]): number {
  if ((room.allocatable.cpu ?? 0) <= smallestCpu) return 0;
  const used = Math.max(...sharesUsed(room, pods)) / overhead;
  if (used <= 0 || used > 0.5) return 0;
  return 1 - 2 ** Math.ceil(Math.log2(used));
}
