import type { V1Node } from "@kubernetes/client-node";
import { holdLabel, Karpenter } from "../../../lambda/core/marks/keys.ts";
import { KubernetesNodes } from "../../../lambda/kubernetes/nodes.ts";
import { CollectedMetrics } from "../../../simulator/collected-log.ts";
import { markListed, releaseListed } from "../../contracts/nodes-world.ts";
import { patience, until } from "../engines/processes.ts";
import { holderClient } from "../worlds/holder-client.ts";
import type { World } from "../worlds/world.ts";
import { poolOf, type Row, waitingTaint, workOf } from "./rows.ts";

/** The times of one row's nodes, in milliseconds since 1970. */
export type Seen = Readonly<{
  row: Row;
  nodes: readonly string[];
  marked: boolean;
  triggeredAt: number;
  liftedAt: number;
  /** Never is infinity. */
  touchedAt: number;
  goneAt: number;
}>;

export type Truth = Readonly<{ heldAt: number; releasedAt: number; seen: readonly Seen[] }>;

const holdId = "20260131t093000-truth0";
/** Longer than Karpenter needs without a hold: there the last row's nodes were gone after 85 s. */
const watchMs = 100_000;

/** Runs all rows at the same time under one hold. */
export class TruthRun {
  readonly #world: World;
  readonly #rows: readonly Row[];
  readonly #nodeTimes: NodeTimes;
  readonly #nodes = new Map<string, readonly string[]>();
  readonly #marked = new Set<string>();
  readonly #triggeredAt = new Map<string, number>();
  readonly #liftedAt = new Map<string, number>();

  constructor(world: World, rows: readonly Row[]) {
    this.#world = world;
    this.#rows = rows;
    this.#nodeTimes = new NodeTimes(world);
  }

  async play(): Promise<Truth> {
    await this.#prepare();
    const nodes = await this.#holder();
    await markListed(nodes, { holdId });
    await this.#seeMarks();
    const heldAt = Date.now();

    await this.#each((row) => !row.triggerLate, this.#trigger);
    await this.#nodeTimes.watchUntil(() => false, watchMs);
    await this.#nodeTimes.watchUntil(() => this.#areGone("although held"), patience);
    await this.#each((row) => row.triggerLate === true, this.#trigger);

    const releasedAt = Date.now();
    await releaseListed(nodes, { holdId });
    await this.#nodeTimes.watchUntil(() => this.#areGone("after the hold"), patience);
    await this.#each((row) => row.course === "after the hold and the other", this.#lift);
    await this.#nodeTimes.watchUntil(() => this.#areGone("after the hold and the other"), patience);
    return { heldAt, releasedAt, seen: this.#rows.map((row) => this.#seen(row)) };
  }

  async #prepare(): Promise<void> {
    // Expiry counts from the node's creation, so this row comes last.
    await this.#launch(this.#rows.filter(({ name }) => name !== "expiry"));
    for (const row of this.#rows) await row.before?.(this.#world);
    await this.#launch(this.#rows.filter(({ name }) => name === "expiry"));
    await until("a running command", () => this.#isRunning(), patience, 500);
  }

  async #launch(some: readonly Row[]): Promise<void> {
    for (const row of some) {
      await this.#world.pool(poolOf(row));
      const work = workOf(row);
      if (work) await this.#world.scale(row.name, work);
    }
    await this.#untilReady(some);
  }

  async #isRunning(): Promise<boolean> {
    await this.#nodeTimes.poll();
    const isTouched = this.#of("under-way").every((node) => this.#nodeTimes.of(node).touchedAt !== undefined);
    const replaced = (await this.#world.nodes()).filter(
      ({ metadata }) => metadata?.labels?.[Karpenter.v1.poolLabel] === "under-way",
    );
    // A node gets its startup taint a moment after it has joined.
    const isWaiting = replaced.some(({ spec }) => spec?.taints?.some(({ key }) => key === waitingTaint));
    return isTouched && replaced.length === 2 && isWaiting;
  }

  async #untilReady(wanted: readonly Row[]): Promise<void> {
    const isReady = async () => {
      const ready = new Set(await this.#world.ready());
      const nodes = (await this.#world.nodes()).filter(({ metadata }) => ready.has(metadata?.name ?? ""));
      for (const { name } of wanted) {
        const own = nodes.filter(({ metadata }) => metadata?.labels?.[Karpenter.v1.poolLabel] === name);
        this.#nodes.set(name, own.map(({ metadata }) => metadata?.name ?? "").sort());
      }
      return wanted.every(({ name, nodes: count = 1 }) => this.#of(name).length === count);
    };
    await until("the rows' nodes to be ready", isReady, patience, 500);
  }

  async #holder(): Promise<KubernetesNodes> {
    return new KubernetesNodes({
      api: await holderClient(this.#world),
      karpenter: "v1",
      annotation: Karpenter.v1.annotation,
      nodePools: { only: [], except: [] },
      metrics: new CollectedMetrics(),
    });
  }

  async #seeMarks(): Promise<void> {
    for (const { metadata } of await this.#world.nodes()) {
      const isMarked = metadata?.labels?.[holdLabel] === holdId;
      if (isMarked && metadata?.name) this.#marked.add(metadata.name);
    }
  }

  async #each(which: (row: Row) => boolean, act: (row: Row) => Promise<void>): Promise<void> {
    for (const row of this.#rows.filter(which)) await act(row);
  }

  readonly #trigger = async (row: Row): Promise<void> => {
    this.#triggeredAt.set(row.name, Date.now());
    await row.trigger?.(this.#world, this.#of(row.name));
  };

  readonly #lift = async (row: Row): Promise<void> => {
    if (!row.lift) return;
    this.#liftedAt.set(row.name, Date.now());
    await row.lift(this.#world);
  };

  #of(name: string): readonly string[] {
    return this.#nodes.get(name) ?? [];
  }

  #areGone(course: Row["course"]): boolean {
    const wanted = this.#rows.filter((row) => row.course === course).flatMap(({ name }) => this.#of(name));
    return wanted.every((node) => this.#nodeTimes.of(node).goneAt !== undefined);
  }

  #seen(row: Row): Seen {
    const nodes = this.#of(row.name);
    const fates = nodes.map((node) => this.#nodeTimes.of(node));
    const touched = fates.map(({ touchedAt }) => touchedAt ?? Number.POSITIVE_INFINITY);
    const gone = fates.map(({ goneAt }) => goneAt ?? Number.POSITIVE_INFINITY);
    const triggeredAt = this.#triggeredAt.get(row.name) ?? 0;
    return {
      row,
      nodes,
      marked: nodes.every((node) => this.#marked.has(node)),
      triggeredAt,
      liftedAt: row.quietMs ? triggeredAt + row.quietMs : (this.#liftedAt.get(row.name) ?? 0),
      touchedAt: Math.min(...touched),
      goneAt: Math.max(...gone),
    };
  }
}

/** When Karpenter started to disrupt a node, and when the node was gone. */
type Times = { touchedAt?: number; goneAt?: number };

const isTouched = ({ metadata, spec }: V1Node): boolean =>
  Boolean(metadata?.deletionTimestamp) ||
  Boolean(spec?.taints?.some(({ key }) => key === "karpenter.sh/disrupted"));

/** Polls all nodes and records these times. */
class NodeTimes {
  readonly #world: World;
  readonly #times = new Map<string, Times>();

  constructor(world: World) {
    this.#world = world;
  }

  of(node: string): Times {
    return this.#times.get(node) ?? {};
  }

  /** Reads all nodes once. */
  async poll(): Promise<void> {
    const present = new Map((await this.#world.nodes()).map((node) => [node.metadata?.name ?? "", node]));
    for (const name of present.keys()) if (!this.#times.has(name)) this.#times.set(name, {});
    const now = Date.now();
    for (const [name, times] of this.#times) {
      const node = present.get(name);
      if (!node || isTouched(node)) times.touchedAt ??= now;
      if (!node) times.goneAt ??= now;
    }
  }

  /** Polls until the condition is true or the time is over; a timeout is no error. */
  async watchUntil(isEnough: () => boolean, within: number): Promise<void> {
    const end = performance.now() + within;
    const isOver = async () => {
      await this.poll();
      return isEnough() || performance.now() > end;
    };
    await until("the end of the poll", isOver, within + patience, 500);
  }
}
