import type { LabelSelector } from "../core/label-selectors.ts";
import { isHoldId } from "../core/marks/hold-id.ts";
import { holdLabel, Karpenter, type KarpenterGeneration } from "../core/marks/keys.ts";
import { type ManagedNode, planMark, planRelease } from "../core/marks/plan-marks.ts";
import type {
  CallContext,
  ChangeContext,
  Changed,
  Metrics,
  NodeChange,
  Nodes,
  SeenNode,
} from "../core/ports.ts";
import { type NodePoolFilter, type Scope, wholeCluster } from "../core/scope.ts";
import type { KubernetesCaller } from "./client.ts";
import { forEachConcurrent } from "./for-each-concurrent.ts";
import { changeNode } from "./node-changes.ts";
import { listNodes, markedByAnyone, selectors } from "./node-lists.ts";
import { inFlight } from "./transport.ts";

/** Which nodes are this deployment's, and the cluster they are in. */
export type KubernetesNodesOptions = Readonly<{
  api: KubernetesCaller;
  karpenter: KarpenterGeneration;
  annotation: string;
  nodePools: NodePoolFilter;
  metrics: Metrics;
  pageSize?: number;
}>;

/** The nodes of a real cluster, changed by JSON Patch with a `test` for each value that the change rests on. */
export class KubernetesNodes implements Nodes {
  readonly #options: KubernetesNodesOptions;
  readonly #select: ReturnType<typeof selectors>;

  constructor(options: KubernetesNodesOptions) {
    this.#options = options;
    this.#select = selectors(options.karpenter, options.nodePools);
  }

  list(scope: Scope, context: CallContext): Promise<readonly SeenNode[]> {
    return this.#list(this.#select.registered(scope), context);
  }

  async listMarked(context: CallContext): Promise<readonly SeenNode[]> {
    const nodes = await this.#list(markedByAnyone, context);
    return nodes.filter(({ labels }) => isHoldId(labels?.[holdLabel]));
  }

  async nodePools(context: CallContext): Promise<ReadonlySet<string>> {
    const { poolLabel } = Karpenter[this.#options.karpenter];
    const nodes = await this.#list([{ key: poolLabel, operator: "Exists" }], context);
    return new Set(nodes.flatMap(({ nodePool }) => nodePool || []));
  }

  async change(changes: readonly NodeChange[], context: ChangeContext): Promise<Changed> {
    for (const { holdId } of changes) checkId(holdId);
    const counts: Partial<Record<Outcome, number>> = {};
    await forEachConcurrent(changes, inFlight, async (change) => {
      const outcome = await this.#change(change, context);
      counts[outcome] = (counts[outcome] ?? 0) + 1;
      // An adopted node was held before; what is marked already, another pass has reported.
      if (outcome === "marked" || outcome === "released") context.onChange?.(change);
    });
    const { adopted = 0, userHeld = 0, released = 0, kept = 0, failed = 0 } = counts;
    // Already marked since it was listed: by another pass, or by our own patch whose answer was lost.
    const marked = (counts.marked ?? 0) + (counts.already ?? 0);
    const left = counts.left !== undefined;
    // Where the time is over before one node was changed, patches hang: that is a failure, too.
    const isStuck = left && Object.keys(counts).length === 1;
    const { metrics } = this.#options;
    if (marked + adopted > 0) metrics.add("NodesHeld", marked + adopted);
    if (released > 0) metrics.add("NodesReleased", released);
    if (failed > 0 || isStuck) metrics.add("NodePatchFailures", failed || 1);
    return { marked, adopted, userHeld, released, kept, failed, left };
  }

  #change({ do: what, node, holdId, scope }: NodeChange, context: CallContext): Promise<Outcome> {
    const { api, annotation } = this.#options;
    if (what === "release") {
      const plan = (present: ManagedNode) => planRelease(present, { holdId, annotation });
      return changeNode(api, node, { plan, context });
    }
    const plan = (present: ManagedNode) => planMark(present, { holdId, annotation });
    const candidates = this.#select.registered(scope) ?? this.#select.registered(wholeCluster);
    return changeNode(api, node, { plan, candidates, context });
  }

  async #list(selector: LabelSelector | undefined, context: CallContext): Promise<readonly SeenNode[]> {
    const { api, karpenter, pageSize = 500 } = this.#options;
    const { poolLabel } = Karpenter[karpenter];
    const nodes: SeenNode[] = [];
    for await (const node of listNodes(api, selector, context, pageSize))
      nodes.push({ ...node, nodePool: node.labels?.[poolLabel] ?? "" });
    return nodes;
  }
}

/** A node with any other value is excluded, so its mark would never come off. */
function checkId(holdId: string): void {
  if (!isHoldId(holdId)) throw new Error(`${JSON.stringify(holdId)} is not the id of a hold`);
}

type Outcome =
  | ReturnType<typeof planMark>["outcome"]
  | ReturnType<typeof planRelease>["outcome"]
  | "gone"
  | "failed"
  | "left";
