import { BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";
import { isHoldId } from "../../lambda/core/marks/hold-id.ts";
import { holdLabel, isExcluded, Karpenter, markValue } from "../../lambda/core/marks/keys.ts";
import type {
  CallContext,
  Clock,
  Marked,
  Metrics,
  NodeSeen,
  Nodes,
  Released,
} from "../../lambda/core/ports.ts";
import { type NodePoolFilter, nodePoolOf, type Scope } from "../../lambda/core/scope.ts";

/** A node as memory keeps it; without `pool` it is not Karpenter's. */
export type MemoryNode = {
  name: string;
  instance: string;
  pool?: string;
  joinedAt: Date;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  /** What the hold annotation was, from the node's beginning to now; undefined where it was absent. */
  history: (string | undefined)[];
};

/** With pool null the node is not one of Karpenter's. */
export type MemoryNodeAbout = Partial<Omit<MemoryNode, "name" | "history" | "pool">> &
  Readonly<{ pool?: string | null }>;

/** NewEvent before every list and every patch; what it throws, that call fails with. */
export type MemoryCall = Readonly<{ kind: "list" } | { kind: "patch"; node: string }>;

/** Thrown by the hook, it ends the whole use case as a crash of the process would. */
export class Crash extends Error {}

export type MemoryNodesOptions = Readonly<{
  clock: Clock;
  nodePools?: NodePoolFilter;
  annotation?: string;
  metrics?: Metrics;
  before?: (call: MemoryCall) => void | Promise<void>;
  after?: (call: MemoryCall) => void | Promise<void>;
}>;

type Outcome = "marked" | "adopted" | "userHeld" | "released" | "kept" | "gone" | "failed";

/** A cluster's nodes without a cluster: the same promises as the Kubernetes adapter, one call after the other. */
export class MemoryNodes implements Nodes {
  readonly nodes = new Map<string, MemoryNode>();
  /** May be changed at any time. */
  before: (call: MemoryCall) => void | Promise<void>;
  /** What it throws is an answer that got lost: the call was done, and seems to have failed. */
  after: (call: MemoryCall) => void | Promise<void>;
  readonly #options: MemoryNodesOptions;
  readonly #annotation: string;

  constructor(options: MemoryNodesOptions) {
    this.#options = options;
    this.#annotation = options.annotation ?? Karpenter.v1.annotation;
    this.before = options.before ?? (() => {});
    this.after = options.after ?? (() => {});
  }

  /** Puts a node into the cluster; by default one of Karpenter's, in NodePool `default`, joined now. */
  add(name: string, about: MemoryNodeAbout = {}): MemoryNode {
    const { labels = {}, annotations = {}, instance = `i-${name}` } = about;
    const joinedAt = about.joinedAt ?? this.#options.clock.now();
    const { pool = "default" } = about;
    const history = [annotations[this.#annotation]];
    const node: MemoryNode = { name, instance, joinedAt, labels, annotations, history };
    if (pool !== null) node.pool = pool;
    this.nodes.set(name, node);
    return node;
  }

  remove(name: string): void {
    this.nodes.delete(name);
  }

  /** Changes a node as a user would; undefined takes the key away. */
  edit(name: string, kind: "labels" | "annotations", key: string, value: string | undefined): void {
    const node = this.nodes.get(name);
    if (!node) throw new Error(`there is no node ${name}`);
    if (value === undefined) delete node[kind][key];
    else node[kind][key] = value;
    if (kind === "annotations" && key === this.#annotation) node.history.push(value);
  }

  /** The names of the nodes that carry this hold's whole mark. */
  heldBy(holdId: string): readonly string[] {
    return [...this.nodes.values()]
      .filter((node) => node.labels[holdLabel] === holdId && node.annotations[this.#annotation] === markValue)
      .map((node) => node.name);
  }

  async mark(scope: Scope, holdId: string, { deadline }: CallContext): Promise<Marked> {
    const pool = nodePoolOf(scope);
    const wanted = (node: MemoryNode) =>
      this.#admitted(node) &&
      (pool === undefined || node.pool === pool) &&
      node.labels[holdLabel] !== holdId &&
      !isExcluded(node.labels[holdLabel]);
    const seen: NodeSeen[] = [];
    const mark = (node: MemoryNode): Outcome => {
      const isDone = node.labels[holdLabel] === holdId;
      const outcome = isDone ? "marked" : wanted(node) ? this.#markOne(node, holdId) : "gone";
      if (outcome !== "gone") seen.push(seenOf(node));
      return outcome;
    };
    const counts = await this.#each(wanted, deadline, mark, (node) => this.#markable(node));
    this.#count("NodesHeld", counts.marked + counts.adopted);
    this.#count("NodesUserHeld", counts.userHeld);
    const { marked, adopted, userHeld, failed, left } = counts;
    return { marked, adopted, userHeld, failed, left, seen };
  }

  async release(holdId: string, { deadline }: CallContext): Promise<Released> {
    const ours = (node: MemoryNode) => isHoldId(holdId) && node.labels[holdLabel] === holdId;
    const { released, kept, failed, left } = await this.#each(ours, deadline, (node) =>
      ours(node) ? this.#releaseOne(node) : this.#isBare(node) ? "released" : "kept",
    );
    this.#count("NodesReleased", released);
    return { released, kept, failed, left };
  }

  async marks(except: readonly string[], { deadline }: CallContext): Promise<ReadonlyMap<string, number>> {
    const found = new Map<string, number>();
    for (const node of await this.#list(() => true, deadline)) {
      const id = node.labels[holdLabel];
      if (isHoldId(id) && !except.includes(id)) found.set(id, (found.get(id) ?? 0) + 1);
    }
    return found;
  }

  async joinedSince(
    since: Date,
    which: "all" | "unmarked",
    { deadline }: CallContext,
  ): Promise<readonly NodeSeen[]> {
    const wanted = (node: MemoryNode) =>
      this.#admitted(node) && node.joinedAt > since && (which === "all" || !(holdLabel in node.labels));
    return (await this.#list(wanted, deadline)).map(seenOf);
  }

  async countUserHeld({ deadline }: CallContext): Promise<number> {
    const wanted = (node: MemoryNode) =>
      this.#admitted(node) && !(holdLabel in node.labels) && this.#annotation in node.annotations;
    return (await this.#list(wanted, deadline)).length;
  }

  #admitted(node: MemoryNode): boolean {
    const { only, except }: NodePoolFilter = this.#options.nodePools ?? { only: [], except: [] };
    // A selector asks for a label, whatever it says.
    if (node.pool === undefined || except.includes(node.pool)) return false;
    return only.length === 0 || only.includes(node.pool);
  }

  #isBare(node: MemoryNode): boolean {
    return !(holdLabel in node.labels) && !(this.#annotation in node.annotations);
  }

  #markable(node: MemoryNode): boolean {
    const annotation = node.annotations[this.#annotation];
    return annotation === undefined || (isHoldId(node.labels[holdLabel]) && annotation === markValue);
  }

  #markOne(node: MemoryNode, holdId: string): Outcome {
    if (!this.#markable(node)) return "userHeld";
    const adopted = isHoldId(node.labels[holdLabel]);
    if (!(this.#annotation in node.annotations))
      this.edit(node.name, "annotations", this.#annotation, markValue);
    this.edit(node.name, "labels", holdLabel, holdId);
    return adopted ? "adopted" : "marked";
  }

  #releaseOne(node: MemoryNode): Outcome {
    const annotation = node.annotations[this.#annotation];
    this.edit(node.name, "labels", holdLabel, undefined);
    if (annotation !== undefined && annotation !== markValue) return "kept";
    if (annotation !== undefined) this.edit(node.name, "annotations", this.#annotation, undefined);
    return "released";
  }

  async #list(wanted: (node: MemoryNode) => boolean, deadline: Date): Promise<MemoryNode[]> {
    if (this.#late(deadline)) throw new TryAgainError("the time was over before the nodes were listed");
    try {
      await this.before({ kind: "list" });
    } catch (error) {
      if (error instanceof Crash || error instanceof BrokenSetupError) throw error;
      throw new TryAgainError("the nodes could not be listed", { cause: error });
    }
    return [...this.nodes.values()].filter(wanted);
  }

  async #each(
    wanted: (node: MemoryNode) => boolean,
    deadline: Date,
    act: (node: MemoryNode) => Outcome,
    writes: (node: MemoryNode) => boolean = () => true,
  ): Promise<Record<Outcome, number> & { left: boolean }> {
    const counts = { marked: 0, adopted: 0, userHeld: 0, released: 0, kept: 0, gone: 0, failed: 0 };
    if (this.#late(deadline)) return { ...counts, left: true };
    for (const node of await this.#list(wanted, deadline)) {
      if (this.#late(deadline)) return { ...counts, left: true };
      counts[writes(node) ? await this.#patch(node.name, act) : act(node)] += 1;
    }
    this.#count("NodePatchFailures", counts.failed);
    return { ...counts, left: false };
  }

  async #patch(name: string, act: (node: MemoryNode) => Outcome): Promise<Outcome> {
    try {
      await this.before({ kind: "patch", node: name });
    } catch (error) {
      if (error instanceof Crash || error instanceof BrokenSetupError) throw error;
      return "failed";
    }
    const node = this.nodes.get(name);
    const outcome = node ? act(node) : "gone";
    try {
      await this.after({ kind: "patch", node: name });
      return outcome;
    } catch (error) {
      if (error instanceof Crash) throw error;
      return "failed";
    }
  }

  #late(deadline: Date): boolean {
    return this.#options.clock.now() >= deadline;
  }

  #count(name: "NodesHeld" | "NodesUserHeld" | "NodesReleased" | "NodePatchFailures", value: number): void {
    if (value > 0) this.#options.metrics?.add(name, value);
  }
}

const seenOf = ({ name, instance, pool = "", joinedAt }: MemoryNode): NodeSeen => ({
  name,
  instance,
  nodePool: pool,
  joinedAt,
});
