import { after, type Duration, seconds } from "../../lambda/core/duration.ts";
import type { NodeView } from "../../simulator/cluster-view.ts";
import { wholeSecond } from "../../simulator/fake-ec2.ts";
import { nodeCpu } from "../../simulator/fake-node-claims.ts";
import type { Invocation } from "../../simulator/invocation.ts";
import type { World } from "../../simulator/world.ts";
import type { Claims, Launch, Setting } from "./commands.ts";

/** How many pods run on a node where they may be moved. */
export const movable = 4;
/** Four such pods use a fifth of a node, or a tenth of a larger one. */
const looseCpu = 400;
/** A node has room for 110 pods: beside many there is room for others, beside those of a full one for none. */
const counts = {
  none: 0,
  movable,
  loose: movable,
  fixed: 0,
  job: 0,
  pinned: 1,
  misjudged: 1,
  many: 70,
  full: 110,
} as const;
/**
 * What runs on a node: nothing, four pods that may be moved, four that leave most of the node unused, one that may not be
 * moved, one of a Job, one that fits no other node, one that seems to fit others until Karpenter tries it, or many that fit
 * nowhere else.
 */
export type Pods = keyof typeof counts;

/** How many pods have to move before such a node can go, as far as it can be seen; undefined: it cannot go. */
export const movesOf = (pods: Pods): number | undefined =>
  ["none", "movable", "loose", "misjudged"].includes(pods) ? counts[pods] : undefined;

export const pools = ["a", "b"] as const;

/** The truth about a launch of the run. `at` is exact; EC2 and the API server know whole seconds. */
export type Launched = Readonly<{
  instance: string;
  node: string;
  pool: string;
  at: Date;
  times: readonly Date[];
}>;

/** Karpenter's part of a run: launches, drift and removals, and whether the holder may read of them. */
export class Karpenter {
  readonly launches: Launched[] = [];
  /** The nodes whose drift has begun or ended: no event reports that. */
  readonly drifting = new Set<string>();
  /** How many sizes nodes have. */
  readonly sizes: number;
  readonly #world: World;
  /** What runs on nodes since when; nothing on those that are not named. */
  readonly loads = new Map<string, Readonly<{ pods: Pods; since: Date }>>();
  /** When nodes were let go that are not marked since. */
  readonly letGo = new Map<string, Date>();
  /** Counts changes of what NodeClaims show, apart from launches. */
  #changes = 0;
  readonly #begun = new WeakMap<Invocation, number>();
  /** For so long nothing may change on a node until Karpenter takes it. */
  readonly #consolidateAfter: Duration;

  constructor(world: World, about: Pick<Setting, "consolidateAfter" | "sizes">) {
    this.#world = world;
    this.#consolidateAfter = about.consolidateAfter;
    this.sizes = about.sizes;
    world.nodeClaims.cpuOf = (name) => (/[13579bdf]$/.test(name) ? about.sizes : 1) * nodeCpu;
  }

  launch({ count, pool: which, isUserHeld, isForeign, ...about }: Launch): void {
    const { ec2, settings, time } = this.#world;
    const pool = pools[which] ?? "a";
    const annotations = isUserHeld ? { [settings.holdAnnotation]: "true" } : {};
    for (let n = 0; n < count; n++) {
      const options = { ...about, pool: isForeign ? null : pool, node: { annotations } };
      const { instance, launchedAt, node } = ec2.launch(options);
      if (isForeign) continue;
      const claimedAt = wholeSecond(after(time, -seconds(2)));
      const joinedAt = about.joinsAfter === null ? [] : [wholeSecond(after(time, about.joinsAfter))];
      this.launches.push({ instance, node, pool, at: time, times: [claimedAt, launchedAt, ...joinedAt] });
    }
  }

  /** A node's NodePool changes, or changes back. */
  drift(which: number): void {
    const { nodeClaims, time } = this.#world;
    const joined = [...nodeClaims.claims.values()].filter(({ node, isDeleted }) => node && !isDeleted);
    const claim = joined[which % Math.max(1, joined.length)];
    if (!claim) return;
    this.#changes += 1;
    this.drifting.add(claim.node ?? "");
    const { driftedAt, ...rest } = claim;
    nodeClaims.claims.set(claim.name, driftedAt ? rest : { ...rest, driftedAt: wholeSecond(time) });
  }

  /** Other pods run on a node from now on. */
  runPods(which: number, pods: Pods): void {
    const all = this.#world.nodes.all();
    const { name } = all[which % Math.max(1, all.length)] ?? {};
    if (name !== undefined && this.loads.get(name)?.pods !== pods) this.runOn(name, pods);
  }

  runOn(name: string, pods: Pods): void {
    const { cluster, time } = this.#world;
    const before = counts[this.loads.get(name)?.pods ?? "none"];
    for (let n = 0; n < Math.max(1, before); n++) cluster.pods.remove(`${name}-${n}`);
    this.loads.set(name, { pods, since: time });
    this.#delay(name, time);
    const owner = { apiVersion: "apps/v1", kind: "ReplicaSet" };
    const annotations = { "karpenter.sh/do-not-disrupt": "true" };
    const job = { apiVersion: "batch/v1", kind: "Job" };
    if (pods === "job") cluster.pods.add({ name: `${name}-0`, node: name, owner: job });
    if (pods === "fixed") cluster.pods.add({ name: `${name}-0`, node: name, owner, annotations });
    const requests = pods === "loose" && { cpu: looseCpu };
    const nodeSelector = pods === "pinned" && { "kubernetes.io/hostname": name };
    for (let n = 0; n < counts[pods]; n++)
      cluster.pods.add({
        name: `${name}-${n}`,
        node: name,
        owner,
        ...requests,
        ...(nodeSelector && { nodeSelector }),
      });
  }

  /** Karpenter does not take a node on which pods have just come or gone. */
  #delay(name: string, changedAt: Date): void {
    const { nodes, nodeClaims, clock } = this.#world;
    const instance = nodes.get(name)?.instance ?? "";
    if (this.#consolidateAfter === 0) return;
    nodeClaims.change(instance, { consolidatable: "not yet" });
    const since = after(changedAt, this.#consolidateAfter);
    clock.at(since, () => {
      if (this.loads.get(name)?.since !== changedAt) return;
      nodeClaims.change(instance, { consolidatable: { since: wholeSecond(since) } });
    });
  }

  /** Since when Karpenter may take a node; undefined: not yet. */
  takeableSince({ instance, joinedAt }: NodeView): Date | undefined {
    const consolidatable = this.#world.nodeClaims.claims.get(instance)?.consolidatable;
    return consolidatable === "not yet" ? undefined : (consolidatable?.since ?? joinedAt);
  }

  endJobs(): void {
    for (const { name } of this.#world.nodes.all())
      if (this.loads.get(name)?.pods === "job") this.runOn(name, "none");
  }

  /** Karpenter removes the node that was let go first. */
  take(): void {
    const { nodes, ec2 } = this.#world;
    const isTakeable = (node: NodeView | undefined) =>
      node && this.takeableSince(node) && this.loads.get(node.name)?.pods !== "misjudged";
    const name = [...this.letGo.keys()].find((name) => isTakeable(nodes.get(name)));
    if (name) ec2.terminate(name);
  }

  remove(which: number, drainsFor: Duration): void {
    const nodes = this.#world.nodes.all().filter(({ pool }) => pool);
    const node = nodes[which % Math.max(1, nodes.length)];
    if (!node) return;
    this.#changes += 1;
    this.#world.ec2.terminate(node.name, drainsFor);
  }

  grant(claims: Claims): void {
    this.#changes += 1;
    this.#world.nodeClaims.refusedWith = ({ readable: undefined, refused: 403, none: 404 } as const)[claims];
  }

  begun(invocation: Invocation): void {
    this.#begun.set(invocation, this.#changes);
  }

  /** Whether NodeClaims show now what they showed when an invocation began. */
  isUnchanged(invocation: Invocation): boolean {
    return this.#begun.get(invocation) === this.#changes;
  }

  get isReadable(): boolean {
    const { nodeClaims, settings } = this.#world;
    return nodeClaims.refusedWith === undefined && settings.karpenter === "v1";
  }

  /** Since when a node is drifted, and so shown by its NodeClaim. */
  driftedAt(instance: string): Date | undefined {
    const claim = this.#world.nodeClaims.claims.get(instance);
    return claim?.isDeleted ? undefined : claim?.driftedAt;
  }
}
