import { type LabelSelector, matches } from "./label-selectors.ts";

/** Amounts by resource: cpu in thousandths of a core, memory in bytes, pods, and whatever else a node has. */
export type Resources = Readonly<Record<string, number>>;

export type Taint = Readonly<{ key: string; value: string; effect: string }>;
export type Toleration = Readonly<{ key: string; operator: string; value: string; effect: string }>;

/** A node and the room that it has for pods. */
export type Room = Readonly<{
  name: string;
  allocatable: Resources;
  labels: Readonly<Record<string, string>>;
  taints: readonly Taint[];
  /** Pods may be placed on it: it is ready, and nobody removes it. */
  isOpen: boolean;
  /** It is not superfluous: its user holds or excludes it, or the pods that it was launched for may not be on it yet. */
  stays?: boolean;
  consolidatable?: Consolidatable | undefined;
  createdAt?: Date;
}>;

/** Since when nothing has changed on a node for its `consolidateAfter`, so that Karpenter may take it. Before v1.0 Karpenter does not say. */
export type Consolidatable = Readonly<{ since: Date }> | "not yet";

/** A pod on its node. */
export type Bound = Readonly<{
  node: string;
  requests: Resources;
  /** It needs no other place when its node goes: a DaemonSet's pod, a static one, or one that is being deleted. */
  needsNoPlace: boolean;
  /** Why it must not be moved, in words. */
  fixed?: string | undefined;
  /** What it has done is lost with its node: a pod of a Job, or one without an owner. */
  runsOnce?: boolean;
  needs: Needs;
}>;

/** Where a pod may be placed, as far as that is cheap to read. */
export type Needs = Readonly<{
  /** The labels of a node must match one of these. */
  nodes: readonly LabelSelector[];
  tolerations: readonly Toleration[];
  /** Labels of which its next node must have the same value: its volume or its group is there, or is spread by them. */
  within?: readonly string[];
  /** At most so many pods of this group may be on a node. */
  apart?: Readonly<{ group: string; most: number }> | undefined;
  /** It needs something that is not read here, so nobody knows where it fits. */
  isUnknown?: boolean;
}>;

/** What every node matches. */
export const anyNode: Needs["nodes"] = [[]];

/** The pods of a node that would move with it. */
export const movingOf = (pods: readonly Bound[] = []): readonly Bound[] =>
  pods.filter(({ needsNoPlace }) => !needsNoPlace);

/** The shares of a node's cpu and memory that its pods request. */
export function sharesUsed({ allocatable }: Room, pods: readonly Bound[]): readonly number[] {
  return (["cpu", "memory"] as const).map((name) => {
    const all = allocatable[name] ?? 0;
    return all > 0 ? pods.reduce((sum, { requests }) => sum + (requests[name] ?? 0), 0) / all : 0;
  });
}

/** Room that is left on a node while pods are placed on others in thought. */
type Place = {
  readonly room: Room;
  free: Record<string, number>;
  /** How many pods of a group are on it. */
  readonly groups: Map<string, number>;
  isTaken: boolean;
};

/**
 * The nodes that could go together because their pods fit on the nodes that stay, cheapest first: those without pods that
 * must stay, then those with the fewest pods. A node that takes pods of another one stays.
 */
export function superfluousNodes(
  nodes: readonly Room[],
  podsOf: ReadonlyMap<string, readonly Bound[]>,
): readonly Room[] {
  const places = nodes
    .filter(({ isOpen }) => isOpen)
    .map((room) => placeOf(room, podsOf.get(room.name) ?? []));
  const moving = new Map(places.map((place) => [place, movingOf(podsOf.get(place.room.name))]));
  const podsIn = (place: Place) => moving.get(place) ?? [];
  const isFixed = (place: Place) => podsIn(place).some(({ fixed }) => fixed);
  const order = places.toSorted(
    (a, b) =>
      Number(isFixed(a)) - Number(isFixed(b)) ||
      podsIn(a).length - podsIn(b).length ||
      usedCpu(a) - usedCpu(b) ||
      (a.room.name < b.room.name ? -1 : 1),
  );
  // The fullest node that has room takes a pod, so the places are kept in the order of their free cpu.
  const byRoom = places.toSorted(byFreeCpu);
  const superfluous: Room[] = [];
  for (const place of order) {
    if (place.isTaken || place.room.stays) continue;
    byRoom.splice(byRoom.indexOf(place), 1);
    if (placeAll(podsIn(place), byRoom, place.room)) superfluous.push(place.room);
    else insert(byRoom, place);
  }
  return superfluous;
}

function placeOf(room: Room, pods: readonly Bound[]): Place {
  const free: Record<string, number> = { ...room.allocatable };
  for (const { requests } of pods)
    for (const [name, amount] of Object.entries(requests)) free[name] = (free[name] ?? 0) - amount;
  free.pods = (room.allocatable.pods ?? 0) - pods.length;
  const groups = new Map<string, number>();
  for (const { needs } of pods) count(groups, needs, 1);
  return { room, free, groups, isTaken: false };
}

function count(groups: Place["groups"], { apart }: Needs, sign: 1 | -1): void {
  if (apart) groups.set(apart.group, (groups.get(apart.group) ?? 0) + sign);
}

const usedCpu = ({ room, free }: Place): number => (room.allocatable.cpu ?? 0) - (free.cpu ?? 0);
const byFreeCpu = (a: Place, b: Place): number => (a.free.cpu ?? 0) - (b.free.cpu ?? 0);

/** Places all pods, the largest first, or none. */
function placeAll(pods: readonly Bound[], byRoom: Place[], from: Room): boolean {
  const placed: { pod: Bound; place: Place; wasTaken: boolean }[] = [];
  for (const pod of pods.toSorted((a, b) => (b.requests.cpu ?? 0) - (a.requests.cpu ?? 0))) {
    const place = pod.needs.isUnknown ? undefined : findPlace(pod, byRoom, from);
    if (!place) {
      for (const one of placed.toReversed()) {
        add(byRoom, one.place, one.pod, -1);
        one.place.isTaken = one.wasTaken;
      }
      return false;
    }
    placed.push({ pod, place, wasTaken: place.isTaken });
    add(byRoom, place, pod, 1);
    place.isTaken = true;
  }
  return true;
}

function findPlace(pod: Bound, byRoom: readonly Place[], from: Room): Place | undefined {
  const { within = [] } = pod.needs;
  const isWithin = ({ labels }: Room) => within.every((label) => labels[label] === from.labels[label]);
  for (let i = firstWith(byRoom, pod.requests.cpu ?? 0); i < byRoom.length; i++) {
    const place = byRoom[i];
    if (place && isWithin(place.room) && fits(pod, place)) return place;
  }
  return undefined;
}

/** The index of the first place with so much free cpu. */
function firstWith(byRoom: readonly Place[], cpu: number): number {
  let [low, high] = [0, byRoom.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((byRoom[middle]?.free.cpu ?? 0) < cpu) low = middle + 1;
    else high = middle;
  }
  return low;
}

function add(byRoom: Place[], place: Place, { requests, needs }: Bound, sign: 1 | -1): void {
  byRoom.splice(byRoom.indexOf(place), 1);
  for (const [name, amount] of Object.entries(requests))
    place.free[name] = (place.free[name] ?? 0) - sign * amount;
  place.free.pods = (place.free.pods ?? 0) - sign;
  count(place.groups, needs, sign);
  insert(byRoom, place);
}

function insert(byRoom: Place[], place: Place): void {
  byRoom.splice(firstWith(byRoom, place.free.cpu ?? 0), 0, place);
}

/** Whether a pod could be placed there, by what is known of its needs. */
function fits({ requests, needs }: Bound, { room, free, groups }: Place): boolean {
  if ((free.pods ?? 0) < 1) return false;
  if (needs.apart && (groups.get(needs.apart.group) ?? 0) >= needs.apart.most) return false;
  for (const [name, amount] of Object.entries(requests))
    if (amount > 0 && (free[name] ?? 0) < amount) return false;
  if (!needs.nodes.some((selector) => matches(selector, room.labels))) return false;
  return room.taints.every(
    (taint) => taint.effect === "PreferNoSchedule" || isTolerated(taint, needs.tolerations),
  );
}

const isTolerated = (taint: Taint, tolerations: readonly Toleration[]): boolean =>
  tolerations.some(
    ({ key, operator, value, effect }) =>
      (effect === "" || effect === taint.effect) &&
      (key === "" ? operator === "Exists" : key === taint.key) &&
      (operator === "Exists" || value === taint.value),
  );
