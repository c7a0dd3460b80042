import { after, type Duration, later, seconds } from "../../lambda/core/duration.ts";
import type { Scope } from "../../lambda/core/scope.ts";
import type { NodeView } from "../../simulator/cluster-view.ts";
import type { Invocation } from "../../simulator/invocation.ts";
import type { World } from "../../simulator/world.ts";
import type { Command, Readable, Setting } from "./commands.ts";
import { isWithin } from "./rules/oracle.ts";

const pools = ["a", "b"];
/** A replacement whose NodeClaim and event are complete by then is recognised in time. */
const inTime: Duration = seconds(1);

/** The truth about a launch, of which the holder may read only a part. */
type Launched = Readonly<{
  instance: string;
  nodePool: string;
  launchedAt: Date;
  /** When Karpenter writes the event of a replacement; missing for demand, and where it never does. */
  namedAt?: Date;
  /** When the NodeClaim has its instance. */
  knownAt: Date;
}>;

/** A pod came to the node of an instance, or left it. */
export type Use = Readonly<{ instance: string; at: Date }>;

type LaunchCommand = Extract<Command, { do: "launch" }>;

/** Karpenter's part of a run: launches with their NodeClaims and events, and the use of nodes. */
export class Karpenter {
  readonly launches = new Map<string, Launched>();
  readonly uses: Use[] = [];
  /** When the nodes of instances joined. */
  readonly joined = new Map<string, Date>();
  /** Since when a node has a pod. */
  readonly #busy = new Map<string, Date>();
  /** Older nodes were not launched in the run. */
  readonly since: Date;
  readonly #world: World;
  readonly #begun = new WeakMap<Invocation, number>();
  #changes = 0;

  constructor(world: World, { readable, claimed }: Pick<Setting, "readable" | "claimed">) {
    this.#world = world;
    this.since = world.time;
    this.grant(readable);
    for (const { name: node, instance, pool = "", joinedAt } of claimed ? world.nodes.all() : []) {
      const claim = { name: instance, createdAt: joinedAt, nodePool: pool };
      world.nodeClaims.claims.set(instance, { ...claim, instance, joinedAt, node });
    }
  }

  launch(about: LaunchCommand, node = {}): void {
    const { nodeClaims, clock, ec2 } = this.#world;
    const { eventAfter, joinsAfter, knownAfter, duplicatesAfter, replaces, instanceAfter } = about;
    const nodePool = about.foreign ? undefined : pools[about.pool];
    const options = { eventAfter, joinsAfter, knownAfter, duplicatesAfter, node };
    const { instance, launchedAt, node: name } = ec2.launch({ ...options, pool: nodePool ?? null });
    if (nodePool === undefined) return;
    const knownAt = after(launchedAt, instanceAfter);
    const namedAt = replaces && replaces.namedAfter !== null && after(launchedAt, replaces.namedAfter);
    this.launches.set(instance, { instance, nodePool, launchedAt, knownAt, ...(namedAt && { namedAt }) });
    const claim = { name: instance, createdAt: launchedAt, nodePool };
    nodeClaims.claims.set(instance, { ...claim, ...(instanceAfter === 0 && { instance }) });
    if (namedAt) nodeClaims.events.set(instance, namedAt);
    if (joinsAfter !== null) clock.at(after(launchedAt, joinsAfter), () => this.#join(instance, name));
    if (instanceAfter === 0) return;
    clock.at(knownAt, () => {
      const present = nodeClaims.claims.get(instance);
      if (present) nodeClaims.claims.set(instance, { ...present, instance });
    });
  }

  #join(instance: string, node: string): void {
    const { nodeClaims, time } = this.#world;
    const present = nodeClaims.claims.get(instance);
    if (!present) return;
    nodeClaims.claims.set(instance, { ...present, joinedAt: time, node });
    this.joined.set(instance, time);
  }

  /** A pod comes to a node, or leaves it where there is one. */
  use(which: number): void {
    const { nodeClaims, time, cluster } = this.#world;
    const { name, instance } = this.#claimed(which) ?? {};
    if (name === undefined || instance === undefined) return;
    nodeClaims.use(instance);
    this.uses.push({ instance, at: time });
    const wasBusy = this.#busy.delete(name);
    if (wasBusy) cluster.pods.remove(name);
    else {
      cluster.pods.add({ name, node: name });
      this.#busy.set(name, time);
    }
  }

  /** Its NodePool has changed. */
  drift(which: number): void {
    const { claims } = this.#world.nodeClaims;
    const claim = claims.get(this.#claimed(which)?.instance ?? "");
    if (claim) claims.set(claim.name, { driftedAt: this.#world.time, ...claim });
  }

  #claimed(which: number): NodeView | undefined {
    const { nodes, nodeClaims } = this.#world;
    const all = nodes.all().filter(({ instance }) => nodeClaims.claims.has(instance));
    return all[which % Math.max(1, all.length)];
  }

  /** Whether an invocation may have read that a node has no pod. */
  mayHaveReadNoPod(invocation: Invocation, node: string): boolean {
    const since = this.#busy.get(node);
    const isRefused = this.#world.cluster.pods.isRefused && this.#begun.get(invocation) === this.#changes;
    return !isRefused && !(since && since < invocation.begunAt);
  }

  remove(name: string, instance: string): void {
    this.#world.nodeClaims.claims.delete(instance);
    this.#world.cluster.pods.remove(name);
  }

  /** The API server keeps events for a while only. */
  forgetEvent(which: number): void {
    const { events } = this.#world.nodeClaims;
    const names = [...events.keys()];
    events.delete(names[which % Math.max(1, names.length)] ?? "");
  }

  grant(readable: Readable): void {
    const { nodeClaims, cluster } = this.#world;
    this.#changes += 1;
    cluster.pods.isRefused = readable === "no pods" || readable === "none";
    nodeClaims.refusedWith = readable === "none" ? 403 : undefined;
    nodeClaims.version = readable === "no use" ? "v1beta1" : "v1";
  }

  begun(invocation: Invocation): void {
    this.#begun.set(invocation, this.#changes);
  }

  /** Whether every list of NodeClaims and events was answered, by the same rights; v0.31 has none. */
  couldRead(invocation: Invocation): boolean {
    const { wasDisturbed, refused, late, settings } = invocation;
    if (settings.karpenter === "v0.31") return false;
    const isRead = ![...refused, ...late].some((call) => call === "events" || call === "claims");
    return isRead && !wasDisturbed && this.#begun.get(invocation) === this.#changes;
  }

  /** Whether NodeClaims and events show an instance as a replacement at this moment. */
  isShown(instance: string): boolean {
    const { nodeClaims, time } = this.#world;
    const claim = nodeClaims.claims.get(instance);
    return claim?.instance !== undefined && nodeClaims.isNamed(instance, time) && !nodeClaims.refusedWith;
  }

  /** Whether it is a replacement of which everything is known before anyone has to judge it. */
  isShownInTime({ instance, launchedAt, namedAt, knownAt }: Launched): boolean {
    const { nodeClaims, time } = this.#world;
    const end = after(launchedAt, inTime);
    if (!namedAt || namedAt > end || knownAt > end || nodeClaims.refusedWith) return false;
    return nodeClaims.claims.has(instance) && nodeClaims.isNamed(instance, later(time, namedAt));
  }

  ofScope(scope: Scope): readonly Launched[] {
    return [...this.launches.values()].filter(({ nodePool }) => isWithin(scope, nodePool));
  }
}
