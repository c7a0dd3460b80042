import { after, type Duration, hours, minutes } from "../core/duration.ts";
import { isHoldId } from "../core/marks/hold-id.ts";
import { holdLabel, isExcluded, isIneffective, type KarpenterGeneration } from "../core/marks/keys.ts";
import type { ClusterFindings, IneffectiveNode, Inspection, KeptNode } from "../core/operate/check.ts";
import type { CallContext, Clock } from "../core/ports.ts";
import { type NodePoolFilter, wholeCluster } from "../core/scope.ts";
import { type TrialResult, tryForeignChange, tryOwnChange } from "./admission-trial.ts";
import type { KubernetesCaller } from "./client.ts";
import { listMetadata, selectors } from "./node-lists.ts";
import { asRecord, type NodeLife, parseNodeLife, textOr } from "./node-objects.ts";
import { eventsNamespace, nodeClaimsGroup } from "./nodeclaims.ts";

export type KubernetesInspectionOptions = Readonly<{
  api: KubernetesCaller;
  karpenter: KarpenterGeneration;
  annotation: string;
  nodePools: NodePoolFilter;
  clock: Clock;
  pageSize?: number;
}>;

const karpentersFinalizer = "karpenter.sh/termination";
/** Draining takes some time; a deletion that takes longer than this is reported. */
const longEnough: Duration = minutes(30);
const aDay: Duration = hours(24);
const maxProblems = 20;
const longestValue = 100;
type Right = Readonly<{ verb: string; resource: string; group?: string; namespace?: string }>;

const needed: readonly Right[] = ["get", "list", "patch"].map((verb) => ({ verb, resource: "nodes" }));
const neededForDemand: readonly Right[] = [
  { verb: "list", resource: "nodeclaims", group: nodeClaimsGroup },
  { verb: "list", resource: "events", namespace: eventsNamespace },
];
const needless: readonly Right[] = [
  { verb: "delete", resource: "nodes" },
  { verb: "create", resource: "pods" },
  { verb: "get", resource: "secrets" },
  { verb: "list", resource: "events" },
];

const nameOf = ({ verb, resource, namespace }: Right): string =>
  `${verb} ${resource}${namespace ? ` in namespace ${namespace}` : ""}`;

/** Inspects a cluster with the holder's rights: reviews the rights, lists nodes, tries changes as dry runs. */
export class KubernetesInspection implements Inspection {
  readonly #options: KubernetesInspectionOptions;

  constructor(options: KubernetesInspectionOptions) {
    this.#options = options;
  }

  async inspect(context: CallContext): Promise<ClusterFindings> {
    const { karpenter } = this.#options;
    const kubernetes = await this.#version(context);
    const [missing, superfluous] = await Promise.all([
      this.#rights(karpenter === "v0.31" ? needed : [...needed, ...neededForDemand], false, context),
      this.#rights(needless, true, context),
    ]);
    const rights = { kubernetes, missingRights: missing, needlessRights: superfluous };
    const nothing = { nodes: 0, stuck: [], userHeld: [], ineffective: [] };
    if (missing.includes("list nodes")) {
      return { ...rights, ...nothing, foreignChange: "not tried", ownChange: "not tried" };
    }
    const { forTrial, ...seen } = await this.#inspectNodes(context);
    // Without the right to patch, every change is refused, whatever the policy says.
    const node = missing.includes("patch nodes") ? undefined : forTrial;
    return { ...rights, ...seen, ...(await this.#tryChanges(node, context)) };
  }

  async #version(context: CallContext): Promise<string> {
    const answer = await this.#options.api.call({ method: "GET", path: "/version" }, context);
    return textOr(asRecord(answer, "the version").gitVersion, "unknown");
  }

  /** The actions that we may do, or with `wanted` false those that we may not do. */
  async #rights(actions: readonly Right[], wanted: boolean, context: CallContext): Promise<string[]> {
    const answers = await Promise.all(actions.map((action) => this.#may(action, context)));
    return actions.filter((_, i) => answers[i] === wanted).map(nameOf);
  }

  async #may(action: Right, context: CallContext): Promise<boolean> {
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    const body = {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes: action },
    };
    const answer = await this.#options.api.call({ method: "POST", path, body }, context);
    return asRecord(asRecord(answer, "the review").status, "the review's status").allowed === true;
  }

  async #inspectNodes(context: CallContext) {
    const { api, karpenter, nodePools, annotation, clock, pageSize = 250 } = this.#options;
    const now = clock.now();
    const stuck: KeptNode[] = [];
    const userHeld: KeptNode[] = [];
    const ineffective: IneffectiveNode[] = [];
    let nodes = 0;
    let forTrial: NodeLife | undefined;
    const ours = selectors(karpenter, nodePools).ofPools(wholeCluster);
    for await (const node of listMetadata(api, ours, context, pageSize, parseNodeLife)) {
      nodes += 1;
      forTrial ??= canCarryMark(node, annotation) ? node : undefined;
      if (isStuck(node, now) && stuck.length < maxProblems)
        stuck.push({ node: node.name, since: node.deletedAt });
      const held = keptByUser(node, annotation);
      if (held && held.since <= after(now, -aDay) && userHeld.length < maxProblems) userHeld.push(held);
      const value = node.annotations?.[annotation];
      if (isIneffective(annotation, value) && ineffective.length < maxProblems)
        ineffective.push({ node: node.name, value: value.slice(0, longestValue) });
    }
    return { nodes, stuck, userHeld, ineffective, forTrial };
  }

  async #tryChanges(node: NodeLife | undefined, context: CallContext) {
    const { api, annotation } = this.#options;
    const untried: TrialResult = { trial: "not tried" };
    const foreign = node ? await tryForeignChange(api, node, context) : untried;
    const own = node ? await tryOwnChange(api, node, annotation, context) : untried;
    const said = own.trial === "refused" ? own.said : (foreign.said ?? own.said);
    const { clusterTime } = own;
    return {
      foreignChange: foreign.trial,
      ownChange: own.trial,
      ...(said && { said }),
      ...(clusterTime && { clusterTime }),
    };
  }
}

const isStuck = (node: NodeLife, now: Date): node is NodeLife & { deletedAt: Date } =>
  node.deletedAt !== undefined &&
  node.deletedAt <= after(now, -longEnough) &&
  node.finalizers.includes(karpentersFinalizer);

function canCarryMark({ labels, annotations, deletedAt }: NodeLife, annotation: string): boolean {
  const label = labels?.[holdLabel];
  if (isExcluded(label) || deletedAt) return false;
  return annotations?.[annotation] === undefined || isHoldId(label);
}

/** The user's annotation and its author; without a known author it counts from the node's creation. */
function keptByUser(node: NodeLife, annotation: string): KeptNode | undefined {
  if (node.annotations?.[annotation] !== "true" || node.labels?.[holdLabel] !== undefined) return undefined;
  const writer = node.writers.find(({ annotations }) => annotations.includes(annotation));
  if (!writer) return { node: node.name, since: node.createdAt };
  return { node: node.name, since: writer.at, by: writer.manager };
}
