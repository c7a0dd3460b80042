import { after, type Duration, earliest, latest, minutes } from "./duration.ts";
import { longestBoot } from "./looks.ts";
import { isHoldId } from "./marks/hold-id.ts";
import { holdLabel } from "./marks/keys.ts";
import { planMark, planRelease } from "./marks/plan-marks.ts";
import type { Changed, NodeChange, NodeClaim, SeenNode, Unavailable } from "./ports.ts";
import type { Hold, ScopeRecord } from "./record.ts";
import type { Bound, Room } from "./room.ts";
import { isOfRules, type Rules } from "./rules.ts";

/** What the cluster showed of a scope. */
export type ScopeView = Readonly<{
  /** When it was read: what came later is not in it. */
  at: Date;
  nodes: readonly SeenNode[];
  claims: readonly NodeClaim[] | Unavailable;
  /** With `hold=auto`: the pods, or that they may be listed, or why not. */
  pods?: readonly Bound[] | "not read" | Unavailable | undefined;
}>;

const noRoom: Omit<Room, "name"> = { allocatable: {}, labels: {}, taints: [], isOpen: false };

/** Pods that wait for a node are on it within this time. */
const newFor: Duration = minutes(2);

/** The nodes with their room for pods, as their NodeClaims report it; one that boots has none. */
export function roomsOf(view: ScopeView, { holdAnnotation: annotation }: Rules, now: Date): readonly Room[] {
  const isOthers = (node: SeenNode) => planRelease(node, { annotation }).outcome === "kept";
  const others = new Set(view.nodes.filter(isOthers).map(({ name }) => name));
  const labelsOf = new Map(view.nodes.map(({ name, labels }) => [name, labels]));
  return claimsOf(view).map(({ name, node = name, createdAt, openedAt, consolidatable, room = noRoom }) => {
    const isNew = openedAt !== undefined && after(openedAt, newFor) > now;
    const labels = { ...room.labels, ...labelsOf.get(node) };
    return { name: node, ...room, labels, stays: isNew || others.has(node), consolidatable, createdAt };
  });
}

/** The NodeClaims, or none where they cannot be read. */
export const claimsOf = ({ claims }: ScopeView): readonly NodeClaim[] =>
  "unavailable" in claims ? [] : claims;

/** Nodes that are drifted for longer than the settings allow, by name. A hold that somebody asked for holds them, too. */
export function driftedNodes(view: ScopeView, { driftWait }: Rules, now: Date): ReadonlySet<string> {
  const drifted = claimsOf(view).filter(({ driftedAt }) => driftedAt && after(driftedAt, driftWait) <= now);
  return new Set(drifted.flatMap(({ node }) => node ?? []));
}

/** When the next drifted node has waited for long enough. */
export function nextDriftEnd(view: ScopeView, { driftWait }: Rules, now: Date): Date | undefined {
  const ends = claimsOf(view).flatMap(({ driftedAt }) => (driftedAt ? [after(driftedAt, driftWait)] : []));
  return earliest(ends.filter((end) => end > now));
}

/**
 * Since when the youngest launched instance waits for its node. A node that its NodeClaim names may be missing from the
 * list of nodes, which was read a moment before. Without NodeClaims any launch of the last minutes may wait, by its instance;
 * one that was found by its node has that node's name.
 */
export function awaitedSince(view: ScopeView, seen: ScopeRecord["seen"], now: Date): Date | undefined {
  const joined = new Set(view.nodes.map(({ name }) => name));
  const waiting =
    "unavailable" in view.claims
      ? Object.entries(seen).flatMap(([name, at]) => (joined.has(name) ? [] : [at]))
      : view.claims
          .filter(({ node, isDeleted }) => !isDeleted && !(node && joined.has(node)))
          .map(({ createdAt }) => createdAt);
  return latest(waiting.filter((since) => after(since, longestBoot) > now));
}

export type NodeFacts = Readonly<{
  record: ScopeRecord;
  /** Until when the nodes are held; undefined: they are not. */
  until?: Date | undefined;
  isRequested: boolean;
  view: ScopeView;
  rules: Rules;
  now: Date;
}>;

/** Where pods could not be read for so long, others may run by now on nodes that were let go. */
const knownFor: Duration = minutes(15);

/** What each node shall be, where that differs from what it is. */
export function planNodes(facts: NodeFacts): readonly NodeChange[] {
  const { record, until, isRequested, view, rules, now } = facts;
  const { hold, scope } = record;
  if (!hold) return [];
  const drifted = isRequested ? new Set() : driftedNodes(view, rules, now);
  const { account } = record;
  const isKnown = account && after(account.at, knownFor) > now;
  // A younger node of the same name, as addresses are used again, was never let go.
  const isLetGo = ({ name, createdAt }: SeenNode) =>
    isKnown && (account.letGo[name] ?? new Date(0)) >= createdAt;
  const isEnding = record.launchHold?.isEnding && !isRequested;
  const withJobs = isEnding ? nodesWithJobs(view, hold, rules, now) : undefined;
  return view.nodes.flatMap((node): NodeChange[] => {
    // Until the pods are read again a hold that ends leaves the nodes as they are, but for those that launches do not hold.
    if (isEnding && !withJobs && rules.mode === "hold" && !drifted.has(node.name)) return [];
    const isHeld =
      until !== undefined && !drifted.has(node.name) && !isLetGo(node) && (withJobs?.has(node.name) ?? true);
    const label = node.labels?.[holdLabel];
    if (isHeld && rules.mode === "hold") {
      const { outcome, change } = planMark(node, { holdId: hold.id, annotation: rules.holdAnnotation });
      if (change) return [{ do: "mark", node, holdId: hold.id, scope }];
      // The user has changed the annotation of an older hold: its label goes, the annotation stays.
      return outcome === "userHeld" && isHoldId(label) ? [{ do: "release", node, holdId: label, scope }] : [];
    }
    // A younger hold has marked it, of which this record does not know yet; or that of another scope, as the settings are now.
    if (!isHoldId(label) || label > hold.id) return [];
    if (label !== hold.id && !isOfRules(rules, scope)) return [];
    return [{ do: "release", node, holdId: label, scope }];
  });
}

/**
 * The nodes of a hold that run Jobs, by name, but for drifted ones, which are not held; undefined where the pods are not
 * known. With `mode=observe` none is marked.
 */
export function nodesWithJobs(
  view: ScopeView,
  hold: Hold | undefined,
  rules: Rules,
  now: Date,
): ReadonlySet<string> | undefined {
  const { nodes, pods } = view;
  if (!Array.isArray(pods)) return undefined;
  const drifted = driftedNodes(view, rules, now);
  const busy = new Set((pods as readonly Bound[]).flatMap(({ node, runsOnce }) => (runsOnce ? node : [])));
  const isOurs = ({ name, labels }: SeenNode) =>
    !drifted.has(name) && (rules.mode === "observe" || (hold && labels?.[holdLabel] === hold.id));
  return new Set(nodes.flatMap((node) => (busy.has(node.name) && isOurs(node) ? node.name : [])));
}

/** The nodes of a scope that a hold protects, marked or yet to be marked, by name. */
export function holdable(view: ScopeView, rules: Rules, now: Date): readonly string[] {
  const drifted = driftedNodes(view, rules, now);
  const isOurs = ({ labels, annotations }: SeenNode): boolean => {
    const label = labels?.[holdLabel];
    return isHoldId(label) || (label === undefined && annotations?.[rules.holdAnnotation] === undefined);
  };
  return view.nodes.filter((node) => isOurs(node) && !drifted.has(node.name)).map(({ name }) => name);
}

export const nothingChanged: Changed = {
  marked: 0,
  adopted: 0,
  userHeld: 0,
  released: 0,
  kept: 0,
  failed: 0,
  left: false,
};
