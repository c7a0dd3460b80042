import * as v from "valibot";
import { findDemand } from "../../../lambda/core/launches/find-demand.ts";
import type { Context } from "../../../lambda/core/ports.ts";
import { KubernetesNodeClaims, replacementReason } from "../../../lambda/kubernetes/nodeclaims.ts";
import { coreWorld } from "../../support/core-world.ts";
import type { NodePool } from "../engines/karpenter.ts";
import { patience, until } from "../engines/processes.ts";
import { holderClient } from "../worlds/holder-client.ts";
import type { World } from "../worlds/world.ts";
import { closed, type LaunchRow, poolOf, turnsOf } from "./launch-rows.ts";

/** A node that Karpenter launched, and what the holder takes the launch for. */
export type Launched = Readonly<{
  claim: string;
  node: string;
  capacity: string;
  /** A launch for pods asks for the resources of these. */
  asksForResources: boolean;
  kind: "demand" | "replacement";
  /** The message of Karpenter's event; a launch for pods has none. */
  event?: string;
  /** From when its node joined to when Karpenter first noted a pod on it; none where it never did. */
  usedAfterSeconds?: number;
}>;

export type RowSeen = Readonly<{
  row: LaunchRow;
  before: readonly Launched[];
  after: readonly Launched[];
  causedAt: number;
}>;

const claimsSchema = v.object({
  items: v.array(
    v.object({
      metadata: v.object({ name: v.string(), labels: v.record(v.string(), v.string()) }),
      spec: v.object({ resources: v.optional(v.object({ requests: v.optional(v.object({})) }), {}) }),
      status: v.optional(
        v.object({
          providerID: v.optional(v.string(), ""),
          nodeName: v.optional(v.string(), ""),
          lastPodEventTime: v.nullish(v.string()),
          conditions: v.optional(v.array(v.object({ type: v.string(), lastTransitionTime: v.string() })), []),
        }),
        {},
      ),
    }),
  ),
});
type Claim = v.InferOutput<typeof claimsSchema>["items"][number];

/** So often Karpenter may give its own decision up. */
const mostAttempts = 3;
const poolLabel = "karpenter.sh/nodepool";
const secondsBetween = (from: string, to: string): number => (Date.parse(to) - Date.parse(from)) / 1000;
const nameOf = ({ metadata }: Claim): string => metadata.name;
const poolOfClaim = ({ metadata }: Claim): string => metadata.labels[poolLabel] ?? "";

/** Lets Karpenter launch nodes in every way, turn by turn, while the holder judges each launch as it comes. */
export class LaunchRun {
  readonly #world: World;
  readonly #rows: readonly LaunchRow[];
  /** Every NodeClaim as it was last read, in the order in which they came. */
  readonly #claims = new Map<string, Claim>();
  readonly #firstSeen = new Map<string, Date>();
  readonly #kinds = new Map<string, Launched["kind"]>();
  readonly #events = new Map<string, string>();
  readonly #firstUsed = new Map<string, string>();
  readonly #causedAt = new Map<string, number>();
  #present: ReadonlySet<string> = new Set();

  constructor(world: World, rows: readonly LaunchRow[]) {
    this.#world = world;
    this.#rows = rows;
  }

  async play(): Promise<readonly RowSeen[]> {
    const context = await this.#context();
    for (const row of this.#rows) await this.#prepare(row);
    await this.#poll(this.#rows, context, (row) => this.#isReady(row));
    for (const turn of turnsOf(this.#rows)) {
      for (const row of turn) await this.#begin(row);
      await this.#poll(turn, context, (row) => this.#isJudged(row));
      for (let attempt = 1; attempt <= mostAttempts; attempt++) {
        const given = turn.filter((row) => this.#wasGivenUp(row));
        for (const row of given) await this.#beginAgain(row, attempt, context);
        await this.#poll(given, context, (row) => this.#isJudged(row));
      }
      for (const row of turn) await this.#end(row);
      await this.#world.untilPodsRun();
    }
    await this.#readClaims();
    await this.#readEvents();
    return this.#rows.map((row) => this.#seen(row));
  }

  /**
   * Nodes of one NodePool drift while pods begin to wait for another one. Returns the launches of the other one, of which at
   * least one has the event of a replacement: Karpenter planned it together with the replacement of a drifted node.
   */
  async demandInRoll(): Promise<readonly Launched[]> {
    const context = await this.#context();
    // As in a cloud, a node joins a while after its launch.
    const pool: NodePool = { name: "rolled", joinsAfter: "10s", budgets: closed };
    const waiting = { ...pool, name: "waiting-in-roll" };
    await this.#world.pool({ ...pool, labels: { roll: "0" } });
    await this.#world.pool(waiting);
    await this.#world.scale(pool.name, { replicas: 6, cpu: "1", pool: pool.name, spread: true });
    await this.#world.untilPodsRun();
    await this.#readClaims();

    let [replicas, rolls] = [0, 0];
    const claimsOf = (name: string) =>
      [...this.#claims.values()].filter((claim) => poolOfClaim(claim) === name);
    const launches = () => claimsOf(waiting.name);
    const isHidden = (claim: Claim) => this.#events.has(nameOf(claim)) && this.#kinds.has(nameOf(claim));
    const isRolled = () =>
      claimsOf(pool.name)
        .filter((claim) => this.#isPresent(claim))
        .every(({ metadata }) => metadata.labels.roll === `${rolls}`);
    await until(
      "a launch for pods that has the event of a replacement",
      async () => {
        // Whether Karpenter plans both together is chance, so one roll follows the other.
        if (isRolled()) {
          rolls += 1;
          await this.#world.pool({ ...pool, budgets: [{ nodes: "100%" }], labels: { roll: `${rolls}` } });
        }
        if (!launches().some((claim) => this.#events.has(nameOf(claim)))) {
          replicas += 1;
          // More than all drifted nodes have room for.
          await this.#world.scale(waiting.name, { replicas, cpu: "14", pool: waiting.name });
        }
        await this.#readClaims();
        await this.#readEvents();
        await this.#judge(context);
        return launches().some(isHidden);
      },
      patience,
      500,
    );
    return launches()
      .filter((claim) => this.#kinds.has(nameOf(claim)))
      .map((claim) => this.#launched(claim));
  }

  async #context(): Promise<Context> {
    const nodeClaims = new KubernetesNodeClaims({
      api: await holderClient(this.#world),
      karpenter: "v1",
      nodePools: { only: [], except: [] },
    });
    return {
      ...coreWorld().context,
      nodeClaims,
      clock: { now: () => new Date() },
      deadline: new Date(Date.now() + 3_600_000),
    };
  }

  async #prepare(row: LaunchRow): Promise<void> {
    await this.#world.pool(poolOf(row));
    await row.before?.(this.#world);
    if (row.work) await this.#world.scale(row.name, { ...row.work, pool: row.name });
  }

  async #begin(row: LaunchRow): Promise<void> {
    this.#causedAt.set(row.name, Date.now());
    await row.cause(this.#world, 0);
  }

  /**
   * Karpenter may delete the replacement in a static pool as one NodeClaim too many before anyone saw it, and launch a node
   * for the pool's size: then there was no replacement yet.
   */
  #wasGivenUp(row: LaunchRow): boolean {
    const isStatic = row.kind === "replacement" && row.pool?.replicas !== undefined;
    const after = this.#of(row).slice(row.nodes);
    return isStatic && after.every((claim) => this.#kinds.get(nameOf(claim)) === "demand");
  }

  async #beginAgain(row: LaunchRow, attempt: number, context: Context): Promise<void> {
    await this.#world.pool(poolOf(row));
    const isSettled = () => {
      const present = this.#of(row).filter((claim) => this.#isPresent(claim));
      return present.length === row.nodes && this.#isReady(row);
    };
    await this.#poll([row], context, isSettled);
    for (const claim of this.#of(row)) if (!this.#isPresent(claim)) this.#claims.delete(nameOf(claim));
    await row.cause(this.#world, attempt);
  }

  /** Leaves nothing that could be disrupted or launched in the next turns. */
  async #end(row: LaunchRow): Promise<void> {
    this.#forgetTakenBack(row);
    await this.#world.pool(poolOf(row));
    if (row.work) await this.#world.scale(row.name, { ...row.work, pool: row.name, replicas: 0 });
  }

  async #poll(rows: readonly LaunchRow[], context: Context, isDone: (row: LaunchRow) => boolean) {
    const missing = () => rows.filter((row) => !isDone(row)).map(({ name }) => name);
    try {
      await until(
        "every launch to be judged",
        async () => {
          await this.#readClaims();
          await this.#judge(context);
          return missing().length === 0;
        },
        patience,
        500,
      );
    } catch (error) {
      throw new Error(`no node, or a launch that was not judged: ${missing().join(", ")}`, { cause: error });
    }
  }

  async #readClaims(): Promise<void> {
    const { items } = v.parse(claimsSchema, await this.#world.nodeClaims());
    this.#present = new Set(items.map(nameOf));
    for (const claim of items) {
      this.#claims.set(nameOf(claim), claim);
      if (claim.status.providerID !== "" && !this.#firstSeen.has(nameOf(claim))) {
        this.#firstSeen.set(nameOf(claim), new Date());
      }
      const { lastPodEventTime } = claim.status;
      if (lastPodEventTime && !this.#firstUsed.has(nameOf(claim))) {
        this.#firstUsed.set(nameOf(claim), lastPodEventTime);
      }
    }
  }

  /** By the holder's own rule, from the moment at which the instance is known. */
  async #judge(context: Context): Promise<void> {
    for (const [name, firstSeenAt] of this.#firstSeen) {
      const claim = this.#claims.get(name);
      if (this.#kinds.has(name) || !claim) continue;
      const launch = {
        instance: claim.status.providerID,
        nodePool: poolOfClaim(claim),
        launchedAt: firstSeenAt,
      };
      const judged = await findDemand(context, { scope: "cluster", launches: [launch], firstSeenAt });
      if (judged.demand.length > 0) this.#kinds.set(name, "demand");
      if (judged.replacements.length > 0) this.#kinds.set(name, "replacement");
    }
  }

  async #readEvents(): Promise<void> {
    const { items } = await this.#world.core.listNamespacedEvent({
      namespace: "default",
      fieldSelector: `reason=${replacementReason}`,
    });
    for (const { involvedObject, message } of items)
      this.#events.set(involvedObject.name ?? "", message ?? "");
  }

  #of(row: LaunchRow): readonly Claim[] {
    return [...this.#claims.values()].filter((claim) => poolOfClaim(claim) === row.name);
  }

  #isReady(row: LaunchRow): boolean {
    const joined = this.#of(row).filter(({ status }) => status.nodeName !== "");
    return joined.length >= row.nodes && joined.every((claim) => this.#kinds.has(nameOf(claim)));
  }

  #isJudged(row: LaunchRow): boolean {
    const isUsed = (claim: Claim) => !row.used || this.#firstUsed.has(nameOf(claim));
    const isNode = (claim: Claim) =>
      claim.status.nodeName !== "" && this.#kinds.has(nameOf(claim)) && isUsed(claim);
    const after = this.#of(row).slice(row.nodes);
    if (!after.some((claim) => this.#wasTakenBack(claim))) return after.length > 0 && after.every(isNode);
    const present = this.#of(row).filter((claim) => this.#isPresent(claim));
    return present.length === row.nodes && present.every((claim) => after.includes(claim) && isNode(claim));
  }

  /**
   * In a static pool Karpenter may delete a replacement at once, as one NodeClaim too many, launch another one for the
   * pool's size, and replace the node a minute later.
   */
  #wasTakenBack(claim: Claim): boolean {
    return !this.#isPresent(claim) && claim.status.nodeName === "";
  }

  #isPresent(claim: Claim): boolean {
    return this.#present.has(nameOf(claim));
  }

  /** Where a replacement was taken back, the row is about the one that stayed. */
  #forgetTakenBack(row: LaunchRow): void {
    const after = this.#of(row).slice(row.nodes);
    if (!after.some((claim) => this.#wasTakenBack(claim))) return;
    for (const claim of after) if (!this.#isPresent(claim)) this.#claims.delete(nameOf(claim));
  }

  #seen(row: LaunchRow): RowSeen {
    const launched = this.#of(row).map((claim) => this.#launched(claim));
    const causedAt = this.#causedAt.get(row.name) ?? 0;
    return { row, before: launched.slice(0, row.nodes), after: launched.slice(row.nodes), causedAt };
  }

  #launched(claim: Claim): Launched {
    const name = nameOf(claim);
    const kind = this.#kinds.get(name);
    if (!kind) throw new Error(`the launch of ${name} was not judged`);
    const event = this.#events.get(name);
    const usedAt = this.#firstUsed.get(name);
    const joined = claim.status.conditions.find(({ type }) => type === "Registered");
    return {
      claim: name,
      node: claim.status.nodeName,
      capacity: claim.metadata.labels["karpenter.sh/capacity-type"] ?? "",
      asksForResources: claim.spec.resources.requests !== undefined,
      kind,
      ...(event !== undefined && { event }),
      ...(usedAt && joined && { usedAfterSeconds: secondsBetween(joined.lastTransitionTime, usedAt) }),
    };
  }
}
