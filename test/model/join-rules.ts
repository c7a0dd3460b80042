import { after, type Duration, later, minutes, seconds } from "../../lambda/core/duration.ts";
import type { Launch } from "../../lambda/core/ports.ts";
import type { Scope } from "../../lambda/core/scope.ts";
import type { Invocation } from "../../simulator/invocation.ts";
import type { World } from "../../simulator/world.ts";
import { mostSkew } from "./commands.ts";
import { scopeFor } from "./oracle.ts";
import { must } from "./watcher.ts";

/** Launches without a node that joins count for so long. */
const joinsWithin: Duration = minutes(10);
const longestBoot: Duration = minutes(5);
const clocksDiffer: Duration = seconds(10);

/** Whether a launch counts only once a node has joined, and none has. */
export function isDoubtful(world: World, scope: Scope, launchedAt: Launch["launchedAt"]): boolean {
  const since = world.holds.records.get(scope)?.unjoinedSince;
  if (!since || launchedAt < after(since, joinsWithin)) return false;
  const joins = world.nodes.all().filter(({ pool }) => pool && scopeFor(world.settings, pool) === scope);
  return !joins.some(({ joinedAt }) => joinedAt > after(since, -clocksDiffer));
}

/** Launches that lead to no node hold nodes for minutes only, however many there are. */
export class JoinRules {
  readonly #world: World;
  /** By scope, the last launch that counted. */
  readonly #counted = new Map<Scope, Date>();
  /** By scope, the first launch that counted since a node joined. */
  readonly #first = new Map<Scope, Date>();
  readonly #joined = new Map<Scope, Date>();

  constructor(world: World) {
    this.#world = world;
  }

  check(invocation: Invocation): void {
    const never = new Date(0);
    for (const { pool, joinedAt } of this.#world.nodes.all()) {
      for (const scope of pool ? (["cluster", `nodepool/${pool}`] as const) : [])
        this.#joined.set(scope, later(this.#joined.get(scope) ?? never, joinedAt));
    }
    for (const [scope, { lastLaunchAt, hold }] of this.#world.holds.records) {
      const first = this.#first.get(scope);
      if (first && this.#isForgotten(scope, first, hold?.state === "held")) this.#first.delete(scope);
      if (!lastLaunchAt || lastLaunchAt <= (this.#counted.get(scope) ?? never)) continue;
      this.#counted.set(scope, lastLaunchAt);
      if (!this.#first.has(scope)) this.#first.set(scope, lastLaunchAt);
      const from = this.#first.get(scope) ?? never;
      // In doubt, when the API server does not answer, a launch is held for.
      const isSure = !invocation.wasHindered && this.#world.time < invocation.deadline;
      const isEarly = lastLaunchAt < after(from, joinsWithin + mostSkew);
      if (isSure)
        must(isEarly, "launches without a node count for ten minutes", () => ({ from, scope, hold }));
      if (!isEarly) this.#first.delete(scope);
    }
  }

  #isForgotten(scope: Scope, first: Date, isHeld: boolean): boolean {
    const joined = this.#joined.get(scope);
    if (joined && joined > after(first, -clocksDiffer)) return true;
    return !isHeld && this.#world.time < after(first, longestBoot + mostSkew);
  }
}
