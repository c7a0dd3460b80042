import { levels, noPauses } from "../../lambda/core/pauses.ts";
import type { Account } from "../../lambda/core/pays.ts";
import { anyNode, type Bound, type Room } from "../../lambda/core/room.ts";
import { noon } from "../../simulator/virtual-clock.ts";

/** A node with room for pods, of eight cores. */
export const aRoom = (name: string, change: Partial<Room> = {}): Room => ({
  name,
  allocatable: { cpu: 8_000, memory: 32e9, pods: 58 },
  labels: {},
  taints: [],
  isOpen: true,
  ...change,
});

export const noNeeds = { nodes: anyNode, tolerations: [] };

/** A pod that may run on any node. */
export const aBound = (node: string, change: Partial<Bound> = {}): Bound => ({
  ...{ node, requests: {}, needsNoPlace: false, needs: noNeeds },
  ...change,
});

/** Of a scope whose nodes were often needed again soon, so that a relaunch is waited for. */
export const waiting: Account = {
  ...{ at: noon, nodes: 0, wasted: {}, letGo: {}, leftAlone: {} },
  pauses: { ...noPauses, learned: Array(levels).fill(0) },
};
