import { after, type Duration, hours } from "../core/duration.ts";
import { isHoldId } from "../core/marks/hold-id.ts";
import { holdLabel, Karpenter, type KarpenterGeneration } from "../core/marks/keys.ts";
import { type ManagedNode, type NodeMeta, planMark, planRelease } from "../core/marks/plan-marks.ts";
import type {
  CallContext,
  Clock,
  Marked,
  Metrics,
  NodeSeen,
  Nodes,
  Released,
  ReleasedAll,
  WhatToMark,
} from "../core/ports.ts";
import { type NodePoolFilter, type Scope, wholeCluster } from "../core/scope.ts";
import { type KubernetesCaller, OutOfTimeError } from "./client.ts";
import { forEachConcurrent } from "./for-each-concurrent.ts";
import { changeNode, readNode } from "./node-changes.ts";
import { type LabelSelector, listMetadata, listNodes, selectors } from "./node-lists.ts";
import { instanceOf, parseNode, parseNodeLife } from "./node-objects.ts";
import { releaseAll } from "./release-all.ts";
import { inFlight } from "./transport.ts";

/** Which nodes are this deployment's, and the cluster they are in. */
export type KubernetesNodesOptions = Readonly<{
  api: KubernetesCaller;
  karpenter: KarpenterGeneration;
  annotation: string;
  nodePools: NodePoolFilter;
  clock: Clock;
  metrics: Metrics;
  pageSize?: number;
}>;

/** No launch waits for a node that joined longer ago, so its instance need not be read. */
const recent: Duration = hours(1);

/** The nodes of a real cluster, changed by JSON Patch with a `test` for each value that the change rests on. */
export class KubernetesNodes implements Nodes {
  readonly #options: KubernetesNodesOptions;
  readonly #select: ReturnType<typeof selectors>;

  constructor(options: KubernetesNodesOptions) {
    this.#options = options;
    this.#select = selectors(options.karpenter, options.nodePools);
  }

  async mark({ scope, holdId, joinedFrom, also }: WhatToMark, context: CallContext): Promise<Marked> {
    const { annotation, metrics } = this.#options;
    const seen: NodeSeen[] = [];
    const plan = (node: NodeMeta) => planMark(node, { holdId, annotation });
    const candidates = this.#select.registered(scope);
    const isWanted = ({ name, createdAt }: NodeMeta) =>
      !joinedFrom || createdAt >= joinedFrom || also?.has(name) === true;
    const nodes = only(isWanted, this.#list(this.#select.withoutMarkOf(scope, holdId), context));
    const counts = await this.#each(nodes, async (node) => {
      const change = { plan, parse: parseNode, candidates, wantsWhole: this.#isYoung(node), context };
      const { outcome, answer } = await changeNode(this.#options.api, node, change);
      if (outcome === "gone" || outcome === "failed" || outcome === "left") return outcome;
      const found = await this.#see(node, answer, context);
      if (found) seen.push(found);
      return outcome;
    });
    const { userHeld = 0, failed = 0, adopted = 0 } = counts;
    // Already marked since it was listed: by another pass, or by our own patch whose answer was lost.
    const marked = (counts.marked ?? 0) + (counts.already ?? 0);
    metrics.add("NodesHeld", marked + adopted);
    metrics.add("NodesUserHeld", userHeld);
    return { marked, adopted, userHeld, failed, left: counts.left !== undefined, seen };
  }

  release(holdId: string, context: CallContext): Promise<Released> {
    return this.#releaseEach(holdId, () => true, context);
  }

  letGo(holdId: string, names: ReadonlySet<string>, context: CallContext): Promise<Released> {
    return this.#releaseEach(holdId, ({ name }) => names.has(name), context);
  }

  async #releaseEach(
    holdId: string,
    isWanted: (node: ManagedNode) => boolean,
    context: CallContext,
  ): Promise<Released> {
    const nodes = only(isWanted, this.#listManaged(this.#select.markedBy(holdId), context));
    const counts = await this.#each(nodes, (node) => this.#release(node, holdId, context));
    const { released = 0, kept = 0, failed = 0 } = counts;
    this.#options.metrics.add("NodesReleased", released);
    return { released, kept, failed, left: counts.left !== undefined };
  }

  async releaseAll(holdIds: ReadonlySet<string>, context: CallContext): Promise<ReleasedAll> {
    const { clock, metrics } = this.#options;
    const release = (node: ManagedNode, holdId: string, own: CallContext) => this.#release(node, holdId, own);
    const marked = this.#listManaged(this.#select.markedByOthers([]), context);
    const result = await releaseAll(marked, { holdIds, release, clock }, context);
    for (const { released, failed } of result.released.values()) {
      metrics.add("NodesReleased", released);
      if (failed > 0) metrics.add("NodePatchFailures", failed);
    }
    return result;
  }

  async marks(except: readonly string[], context: CallContext): Promise<ReadonlyMap<string, number>> {
    const names = await this.#namesByHold(except, context);
    return new Map([...names].map(([holdId, { length }]) => [holdId, length]));
  }

  markedNodes(context: CallContext): Promise<ReadonlyMap<string, readonly string[]>> {
    return this.#namesByHold([], context);
  }

  async #namesByHold(except: readonly string[], context: CallContext): Promise<Map<string, string[]>> {
    const found = new Map<string, string[]>();
    for await (const { name, labels } of this.#list(this.#select.markedByOthers(except), context)) {
      const holdId = labels?.[holdLabel];
      if (!isHoldId(holdId)) continue;
      const names = found.get(holdId);
      if (names) names.push(name);
      else found.set(holdId, [name]);
    }
    return found;
  }

  async joinedSince(
    since: Date,
    which: "all" | "unmarked",
    context: CallContext,
  ): Promise<readonly NodeSeen[]> {
    const { registered, withoutMark } = this.#select;
    const selector = which === "all" ? registered(wholeCluster) : withoutMark(wholeCluster);
    const seen: NodeSeen[] = [];
    await forEachConcurrent(this.#list(selector, context), inFlight, async (node) => {
      if (node.createdAt <= since) return;
      const found = await readNode(this.#options.api, node.name, context);
      if (found !== "gone") seen.push(this.#seenAs(node, instanceOf(found)));
    });
    return seen;
  }

  async hasJoined(scope: Scope, since: Date, context: CallContext): Promise<boolean> {
    for await (const node of this.#list(this.#select.registered(scope), context)) {
      if (node.createdAt > since) return true;
    }
    return false;
  }

  async nodePools(context: CallContext): Promise<ReadonlySet<string>> {
    const { poolLabel } = Karpenter[this.#options.karpenter];
    const names = new Set<string>();
    for await (const { labels } of this.#list([{ key: poolLabel, operator: "Exists" }], context)) {
      const name = labels?.[poolLabel];
      if (name) names.add(name);
    }
    return names;
  }

  async countUserHeld(context: CallContext): Promise<number> {
    let count = 0;
    for await (const node of this.#list(this.#select.withoutMark(wholeCluster), context)) {
      if (node.annotations?.[this.#options.annotation] !== undefined) count += 1;
    }
    return count;
  }

  #list(selector: LabelSelector | undefined, context: CallContext): AsyncGenerator<NodeMeta, void> {
    const { api, pageSize = 500 } = this.#options;
    return listNodes(api, selector, context, pageSize);
  }

  #listManaged(selector: LabelSelector | undefined, context: CallContext): AsyncGenerator<ManagedNode, void> {
    const { api, pageSize = 500 } = this.#options;
    return listMetadata(api, selector, context, pageSize, parseNodeLife);
  }

  async #each<Outcome extends string, Node extends NodeMeta>(
    nodes: AsyncIterable<Node>,
    act: (node: Node) => Promise<Outcome>,
  ): Promise<Partial<Record<Outcome | "left" | "failed", number>>> {
    const counts: Partial<Record<Outcome | "left" | "failed", number>> = {};
    try {
      await forEachConcurrent(nodes, inFlight, async (node) => {
        const outcome = await act(node);
        counts[outcome] = (counts[outcome] ?? 0) + 1;
      });
    } catch (error) {
      if (!(error instanceof OutOfTimeError)) throw error;
      counts.left = 1;
    } finally {
      if (counts.failed) this.#options.metrics.add("NodePatchFailures", counts.failed);
    }
    return counts;
  }

  async #release(node: ManagedNode, holdId: string, context: CallContext) {
    const { api, annotation } = this.#options;
    const plan = (present: ManagedNode) => planRelease(present, { holdId, keys: [annotation] });
    const change = { plan, parse: parseNodeLife, wantsWhole: false, context };
    return (await changeNode(api, node, change)).outcome;
  }

  /** The node with its instance; undefined when it is too old to be awaited, or when it could not be read. */
  async #see(node: NodeMeta, answer: unknown, context: CallContext): Promise<NodeSeen | undefined> {
    if (!this.#isYoung(node)) return undefined;
    try {
      const whole = answer ?? (await readNode(this.#options.api, node.name, context));
      return whole === "gone" ? undefined : this.#seenAs(node, instanceOf(whole));
    } catch (error) {
      context.log.warn("a node's instance could not be read", { node: node.name, error });
      return undefined;
    }
  }

  #seenAs(node: NodeMeta, instance: string): NodeSeen {
    const { name, labels, createdAt } = node;
    const { poolLabel } = Karpenter[this.#options.karpenter];
    return { name, instance, nodePool: labels?.[poolLabel] ?? "", joinedAt: createdAt };
  }

  #isYoung(node: NodeMeta): boolean {
    return after(node.createdAt, recent) > this.#options.clock.now();
  }
}

async function* only<T>(isWanted: (item: T) => boolean, items: AsyncIterable<T>): AsyncGenerator<T, void> {
  for await (const item of items) if (isWanted(item)) yield item;
}
