import { matches, withLabels } from "../core/label-selectors.ts";
import { anyNode, type Bound, type Needs } from "../core/room.ts";
import type { Budget, Pod } from "./pod-objects.ts";
import { readResources } from "./quantity.ts";

const mirror = "kubernetes.io/config.mirror";
const doNotDisrupt = "karpenter.sh/do-not-disrupt";

/** Reduces a pod to what decisions need: what it asks of a node, and why it may not be evicted. */
export function reducePod({ metadata, spec }: Pod, fullBudgets: readonly Budget[]): Bound {
  const { annotations, deletionTimestamp, ownerReferences } = metadata;
  const owner = ownerReferences.find(({ controller }) => controller) ?? ownerReferences[0];
  const needsNoPlace =
    mirror in annotations || (deletionTimestamp ?? undefined) !== undefined || owner?.kind === "DaemonSet";
  // Whatever starts a pod again has it restarted always: Kubernetes allows nothing else there.
  const runsOnce = owner === undefined || owner.kind === "Job" || spec.restartPolicy !== "Always";
  const fixed = needsNoPlace ? undefined : whyFixed(metadata, { owner: owner?.kind, runsOnce, fullBudgets });
  const requests = requestsOf(spec);
  const reduced: Bound = {
    node: spec.nodeName,
    requests,
    needsNoPlace,
    ...(fixed && { fixed }),
    ...(!needsNoPlace && runsOnce && { runsOnce }),
    needs: needsNoPlace ? nothing : needsOf(metadata, spec),
  };
  if (isShort(reduced)) return reduced;
  const { cpu = 0, memory = 0 } = requests;
  return { ...reduced, requests: { cpu, memory }, needs: { ...nothing, isUnknown: true } };
}

/** Whoever may create pods may write a megabyte into each, and all of a cluster must fit into memory together. */
export const isShort = (kept: unknown): boolean => JSON.stringify(kept).length <= 5_000;

const nothing: Needs = { nodes: anyNode, tolerations: [] };

function whyFixed(
  { annotations, namespace, labels }: Pod["metadata"],
  {
    owner,
    runsOnce,
    fullBudgets,
  }: Readonly<{ owner: string | undefined; runsOnce: boolean; fullBudgets: readonly Budget[] }>,
): string | undefined {
  const value = annotations[doNotDisrupt];
  if (value !== undefined && value !== "false") return "a pod asks not to be disrupted";
  if (owner === "Job") return "a Job runs on it";
  if (owner === undefined) return "a pod has no owner that would start it again";
  if (runsOnce) return "a pod that runs once is on it";
  const isProtected = fullBudgets.some(
    (budget) => budget.metadata.namespace === namespace && isSelected(budget.spec.selector, labels),
  );
  return isProtected ? "a PodDisruptionBudget allows no disruption" : undefined;
}

/** Whether a selector selects an object with these labels; none selects nothing. */
export function isSelected(
  selector: Budget["spec"]["selector"],
  labels: Readonly<Record<string, string>>,
): boolean {
  if (!selector) return false;
  const { matchLabels, matchExpressions } = selector;
  return matches([...withLabels(matchLabels), ...matchExpressions], labels);
}

/**
 * As the scheduler counts: the overhead, and all containers together, or the largest init container or the pod itself if
 * that asks for more.
 */
function requestsOf({
  containers,
  initContainers,
  resources: own,
  overhead,
}: Pod["spec"]): Bound["requests"] {
  const total: Record<string, number> = {};
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === "Always");
  for (const { resources } of [...containers, ...sidecars]) addTo(total, resources.requests);
  for (const { resources } of [...initContainers, { resources: own }])
    for (const [name, amount] of Object.entries(readResources(resources.requests)))
      total[name] = Math.max(total[name] ?? 0, amount);
  addTo(total, overhead);
  return total;
}

function addTo(total: Record<string, number>, amounts: Pod["spec"]["overhead"]): void {
  for (const [name, amount] of Object.entries(readResources(amounts)))
    total[name] = (total[name] ?? 0) + amount;
}

const hostname = "kubernetes.io/hostname";
const isOnHost = ({ topologyKey }: Readonly<{ topologyKey: string }>) => topologyKey === hostname;
const zone = "topology.kubernetes.io/zone";
/** Those that compare numbers are rare. */
const operators = ["In", "NotIn", "Exists", "DoesNotExist"];

function needsOf(metadata: Pod["metadata"], spec: Pod["spec"]): Needs {
  const { nodeSelector, tolerations, affinity, volumes, topologySpreadConstraints } = spec;
  const hasHostPort = [...spec.containers, ...spec.initContainers].some(({ ports }) =>
    ports.some(({ hostPort }) => hostPort),
  );
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const terms = required?.nodeSelectorTerms ?? [];
  const selected = withLabels(nodeSelector);
  const nodes = terms.map(({ matchExpressions }) => [...selected, ...matchExpressions]);
  const spread = topologySpreadConstraints
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule")
    .map((one) => ({ ...one, most: one.maxSkew }));
  const anti = affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const together = affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  // Karpenter counts like this, too: it could launch a node, which has none of them.
  const apart = [...anti.map((one) => ({ ...one, most: 1 })), ...spread].filter(isOnHost);
  const groups = new Set(apart.map(({ labelSelector }) => JSON.stringify(labelSelector)));
  // Which pods another group has is not read.
  const isOwnGroup =
    groups.size <= 1 &&
    apart.every(({ labelSelector }) => isSelected(labelSelector, metadata.labels)) &&
    !anti.some((one) => isOnHost(one) && (one.namespaces.length > 0 || one.namespaceSelector));
  const hasVolume = volumes.some(
    ({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim ?? ephemeral,
  );
  const topologies = [...spread, ...anti, ...together].map(({ topologyKey }) => topologyKey);
  const within = [...topologies.filter((key) => key !== hostname), ...(hasVolume ? [zone] : [])];
  const isUnknown =
    hasHostPort ||
    spec.resourceClaims.length > 0 ||
    terms.some(({ matchFields }) => matchFields.length > 0) ||
    nodes.flat().some(({ operator }) => !operators.includes(operator)) ||
    together.some(isOnHost) ||
    !isOwnGroup;
  return {
    nodes: nodes.length > 0 ? nodes : [selected],
    tolerations,
    ...(within.length > 0 && { within }),
    ...(apart.length > 0 && {
      apart: {
        group: `${metadata.namespace}/${[...groups].join()}`,
        most: Math.min(...apart.map(({ most }) => most)),
      },
    }),
    ...(isUnknown && { isUnknown }),
  };
}
