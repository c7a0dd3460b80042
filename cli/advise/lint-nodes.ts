import { type Duration, formatDuration, hours, parseDuration } from "../../lambda/core/duration.ts";
import { isHoldId } from "../../lambda/core/marks/hold-id.ts";
import { holdLabel, isIneffective, Karpenter, markValue } from "../../lambda/core/marks/keys.ts";
import { sharesUsed } from "../../lambda/core/room.ts";
import { isSelected, reducePod } from "../../lambda/kubernetes/pod-needs.ts";
import { readResources } from "../../lambda/kubernetes/quantity.ts";
import { isStatic, type NamedPod, type Node, type Pdb, patchOf } from "./objects.ts";
import { type ClusterFacts, isMissing, orNone } from "./read.ts";

/** Something to change, and the line that changes it. */
export type Finding = Readonly<{
  rule:
    | "annotation-on-nodepool"
    | "annotation-value"
    | "schedule-unreadable"
    | "window-without-base"
    | "window-never-opens"
    | "window-in-utc"
    | "expires-in-window"
    | "long-consolidate-after"
    | "when-empty-wastes"
    | "nobody-can-disrupt";
  object: string;
  problem: string;
  /** A command or lines of YAML. */
  change: string;
}>;

const { annotation, poolLabel } = Karpenter.v1;

/** A pod may protect its node for a while; after a day nobody waits for it any more. */
const longProtected: Duration = hours(24);

/** What is wrong on nodes: values that protect nothing, and nodes that nobody can disrupt. */
export function lintNodes(facts: ClusterFacts): readonly Finding[] {
  const nodes = orNone(facts.nodes).filter(({ metadata }) => metadata.labels[poolLabel] !== undefined);
  const podsOf = Map.groupBy(orNone(facts.pods), ({ spec }) => spec.nodeName);
  return [
    ...ineffective(nodes),
    ...annotated(nodes),
    ...nodes.flatMap((node) => heldByPods(node, podsOf.get(node.metadata.name) ?? [], facts)),
    ...blockingPdbs(nodes, podsOf, orNone(facts.pdbs)),
    ...wasteOfWhenEmpty(nodes, podsOf, facts),
  ];
}

const some = (names: readonly string[]): string =>
  names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");

const plural = (names: readonly string[]): string => (names.length === 1 ? "node" : "nodes");

function ineffective(nodes: readonly Node[]): readonly Finding[] {
  const wrong = nodes.filter(({ metadata }) => isIneffective(annotation, metadata.annotations[annotation]));
  return [...Map.groupBy(wrong, ({ metadata }) => metadata.annotations[annotation] ?? "")].map(
    ([value, all]) => {
      const names = all.map(({ metadata }) => metadata.name);
      return {
        rule: "annotation-value",
        object: `${plural(names)} ${some(names)}`,
        problem: `${annotation}: "${value}" protects nothing: Karpenter knows "true" alone on nodes, and durations on pods alone.`,
        change: `kubectl annotate node ${names.join(" ")} ${annotation}=${markValue} --overwrite`,
      };
    },
  );
}

/** The mark of a hold has our label beside it; without it the annotation is a user's, and stays. */
function annotated(nodes: readonly Node[]): readonly Finding[] {
  const users = nodes.filter(
    ({ metadata }) => metadata.annotations[annotation] === markValue && !isHoldId(metadata.labels[holdLabel]),
  );
  if (users.length === 0) return [];
  const names = users.map(({ metadata }) => metadata.name);
  return [
    {
      rule: "nobody-can-disrupt",
      object: `${plural(names)} ${some(names)}`,
      problem: `A user's annotation ${annotation}=true protects ${names.length === 1 ? "it" : "them"} without an end: neither emptiness nor drift removes ${names.length === 1 ? "it" : "them"}. Once that is not wanted any more:`,
      change: `kubectl annotate node ${names.join(" ")} ${annotation}-`,
    },
  ];
}

/** The value "true" has no end; from 1.12 on a duration counts from the start of the pod. */
function protects({ metadata, status }: NamedPod, now: Date): boolean {
  const value = metadata.annotations[annotation];
  const age = status.startTime ? now.getTime() - status.startTime.getTime() : 0;
  return age > longProtected && (value === markValue || (parseDuration(value ?? "") ?? 0) > age);
}

function heldByPods(node: Node, pods: readonly NamedPod[], { readAt }: ClusterFacts): readonly Finding[] {
  const holding = pods.filter((pod) => protects(pod, readAt));
  if (holding.length === 0) return [];
  const names = holding.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  return [
    {
      rule: "nobody-can-disrupt",
      object: `node ${node.metadata.name}`,
      problem: `${some(names)} asked not to be disrupted more than ${formatDuration(longProtected)} ago (${annotation}), so the node stays.`,
      change: holding
        .map(
          ({ metadata: { namespace, name } }) =>
            `kubectl annotate pod -n ${namespace} ${name} ${annotation}-`,
        )
        .join("; "),
    },
  ];
}

/** Those that will never allow an eviction; one that has no room for now is at work. */
function blockingPdbs(
  nodes: readonly Node[],
  podsOf: ReadonlyMap<string, readonly NamedPod[]>,
  pdbs: readonly Pdb[],
): readonly Finding[] {
  const full = pdbs.filter(
    ({ status }) => status.expectedPods > 0 && status.desiredHealthy >= status.expectedPods,
  );
  return full.flatMap(({ metadata, spec }) => {
    const selected = (pod: NamedPod) =>
      pod.metadata.namespace === metadata.namespace && isSelected(spec.selector, pod.metadata.labels);
    const blocked = nodes
      .map((node) => node.metadata.name)
      .filter((name) => podsOf.get(name)?.some(selected));
    if (blocked.length === 0) return [];
    const problem = `It never allows an eviction (it wants all of its pods healthy), so nobody can drain ${blocked.length} ${plural(blocked)}: ${some(blocked)}.`;
    const change = `kubectl patch pdb -n ${metadata.namespace} ${metadata.name} --type merge -p '{"spec":{"minAvailable":null,"maxUnavailable":1}}'`;
    return [
      {
        rule: "nobody-can-disrupt",
        object: `PodDisruptionBudget ${metadata.namespace}/${metadata.name}`,
        problem,
        change,
      },
    ];
  });
}

/** A smaller waste, or that of two nodes, is usual. */
const much = 0.5;
const fewest = 3;

function wasteOfWhenEmpty(
  nodes: readonly Node[],
  podsOf: ReadonlyMap<string, readonly NamedPod[]>,
  facts: ClusterFacts,
): readonly Finding[] {
  if (isMissing(facts.pods)) return [];
  return orNone(facts.nodePools).flatMap((pool) => {
    const { name } = pool.metadata;
    const own = nodes.filter(({ metadata }) => metadata.labels[poolLabel] === name);
    const isWhenEmpty = pool.spec.disruption.consolidationPolicy === "WhenEmpty" && !isStatic(pool);
    if (!isWhenEmpty || own.length < fewest) return [];
    const used = own.map((node) => {
      const allocatable = readResources(node.status.allocatable);
      const bound = (podsOf.get(node.metadata.name) ?? []).map((pod) => reducePod(pod, []));
      const room = { name: node.metadata.name, allocatable, labels: {}, taints: [], isOpen: true };
      return Math.max(...sharesUsed(room, bound));
    });
    const wasted = 1 - used.reduce((a, b) => a + b, 0) / used.length;
    if (wasted <= much) return [];
    return [
      {
        rule: "when-empty-wastes",
        object: `NodePool ${name}`,
        problem: `consolidationPolicy: WhenEmpty keeps ${own.length} nodes of which pods request ${Math.round((1 - wasted) * 100)} %: underutilized nodes never go.`,
        change: patchOf(pool, { consolidationPolicy: "WhenEmptyOrUnderutilized" }),
      },
    ];
  });
}
