import { after, type Duration, hours, minutes } from "../core/duration.ts";
import { isHoldId, trialHoldId } from "../core/marks/hold-id.ts";
import {
  holderName,
  holdLabel,
  isExcluded,
  isIneffective,
  type KarpenterGeneration,
  markValue,
} from "../core/marks/keys.ts";
import { type NodeMeta, planMark } from "../core/marks/plan-marks.ts";
import type { ClusterFindings, IneffectiveNode, Inspection, KeptNode, Trial } from "../core/operate/check.ts";
import type { CallContext, Clock } from "../core/ports.ts";
import type { Rules } from "../core/rules.ts";
import { type NodePoolFilter, wholeCluster } from "../core/scope.ts";
import type { KubernetesCall, KubernetesCaller } from "./client.ts";
import { isRefusedByAdmission, isStatus } from "./error.ts";
import { markPatch, patchOf } from "./node-changes.ts";
import { eventsNamespace } from "./node-events.ts";
import { listNodes, selectors } from "./node-lists.ts";
import { asRecord, type NodeLife, textOr } from "./node-objects.ts";
import { nodeClaimsGroup } from "./nodeclaims.ts";

export type KubernetesInspectionOptions = Readonly<{
  api: KubernetesCaller;
  karpenter: KarpenterGeneration;
  annotation: string;
  nodePools: NodePoolFilter;
  mode: Rules["mode"];
  auto: boolean;
  /** Whether Events about nodes are written. */
  nodeEvents: boolean;
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

const readNodes: readonly Right[] = ["get", "list"].map((verb) => ({ verb, resource: "nodes" }));
const patchNodes: Right = { verb: "patch", resource: "nodes" };
const listNodeClaims: Right = { verb: "list", resource: "nodeclaims", group: nodeClaimsGroup };
const needless: readonly Right[] = [
  { verb: "delete", resource: "nodes" },
  { verb: "create", resource: "pods" },
  { verb: "get", resource: "secrets" },
  { verb: "list", resource: "events" },
];
const listPods: readonly Right[] = [
  { verb: "list", resource: "pods" },
  { verb: "list", resource: "poddisruptionbudgets", group: "policy" },
];

const createEvents: Right = { verb: "create", resource: "events", namespace: eventsNamespace };

const nameOf = ({ verb, resource }: Right): string => `${verb} ${resource}`;

/** Whether the cluster lets this login do it. */
export async function mayDo(
  api: KubernetesCaller,
  right: Right,
  context: Pick<CallContext, "deadline">,
): Promise<boolean> {
  const reviews = "authorization.k8s.io/v1";
  const spec = { resourceAttributes: right };
  const body = { apiVersion: reviews, kind: "SelfSubjectAccessReview", spec };
  const path = `/apis/${reviews}/selfsubjectaccessreviews`;
  const review = asRecord(await api.call({ method: "POST", path, body }, context), "the review");
  return asRecord(review.status, "the review's status").allowed === true;
}

/** Inspects a cluster with the holder's rights: reviews the rights, lists nodes, tries changes as dry runs. */
export class KubernetesInspection implements Inspection {
  readonly #options: KubernetesInspectionOptions;

  constructor(options: KubernetesInspectionOptions) {
    this.#options = options;
  }

  async inspect(context: CallContext): Promise<ClusterFindings> {
    const { karpenter, mode, auto, nodeEvents } = this.#options;
    const kubernetes = await this.#version(context);
    const ofClaims = karpenter === "v0.31" ? [] : [listNodeClaims];
    const bySettings = [
      { rights: [patchNodes], isWanted: mode === "hold" },
      { rights: listPods, isWanted: auto },
      { rights: [createEvents], isWanted: nodeEvents },
    ];
    const { true: wanted = [], false: unwanted = [] } = Object.groupBy(
      bySettings,
      (one) => `${one.isWanted}`,
    );
    const of = (them: typeof bySettings) => them.flatMap(({ rights }) => rights);
    const [missing, superfluous] = await Promise.all([
      this.#rights([...readNodes, ...of(wanted), ...ofClaims], false, context),
      this.#rights([...needless, ...of(unwanted)], true, context),
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
    const answers = await Promise.all(actions.map((action) => mayDo(this.#options.api, action, context)));
    return actions.filter((_, i) => answers[i] === wanted).map(nameOf);
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
    for await (const node of listNodes(api, ours, context, pageSize)) {
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
    return {
      foreignChange: foreign.trial,
      ownChange: own.trial,
      ...(said && { said }),
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
  if (node.annotations?.[annotation] !== markValue || isHoldId(node.labels?.[holdLabel])) return undefined;
  const writer = node.writers.find(({ annotations }) => annotations.includes(annotation));
  if (!writer) return { node: node.name, since: node.createdAt };
  return { node: node.name, since: writer.at, by: writer.manager };
}

type TrialResult = Readonly<{ trial: Trial; said?: string }>;

/** Tries a change that is not ours to make, as a dry run: the cluster checks it and writes nothing. */
function tryForeignChange(
  api: KubernetesCaller,
  { name }: NodeMeta,
  context: CallContext,
): Promise<TrialResult> {
  const body = { metadata: { annotations: { [`${holderName}/not-ours`]: "true" } } };
  return dryRun(api, patchOf(name, body, "application/merge-patch+json"), context);
}

/** Tries to set our mark, or to adopt the present one, in the same way. */
async function tryOwnChange(
  api: KubernetesCaller,
  node: NodeMeta,
  annotation: string,
  context: CallContext,
): Promise<TrialResult> {
  const { change } = planMark(node, { holdId: trialHoldId, annotation });
  if (!change) return { trial: "not tried" };
  return dryRun(api, patchOf(node.name, markPatch(node, change)), context);
}

async function dryRun(
  api: KubernetesCaller,
  call: KubernetesCall,
  context: CallContext,
): Promise<TrialResult> {
  const query = { ...call.query, dryRun: "All" };
  try {
    await api.call({ ...call, query }, context);
    return { trial: "admitted" };
  } catch (error) {
    if (!isStatus(error, 400, 403, 404, 409, 422)) throw error;
    // Only admission's refusal answers the question; a node that changed or is gone does not.
    return { trial: isRefusedByAdmission(error) ? "refused" : "not tried", said: error.message };
  }
}
