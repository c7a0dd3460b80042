import { after, type Duration, later, minutes, seconds } from "../../../lambda/core/duration.ts";
import type { Hold } from "../../../lambda/core/holds/hold.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import type { Scope } from "../../../lambda/core/scope.ts";
import type { Invocation } from "../../../simulator/invocation.ts";
import type { World } from "../../../simulator/world.ts";
import { mostSkew } from "../commands.ts";
import { isCovered, scopeFor } from "./oracle.ts";
import { must } from "./watcher.ts";

/** Launches without a node that joins count for so long. */
const joinsWithin: Duration = minutes(10);
const longestBoot: Duration = minutes(5);
const clocksDiffer: Duration = seconds(10);

/** Whether a launch counts only once a node has joined, and none has. */
export function isDoubtful(world: World, rules: Rules, scope: Scope, launchedAt: Date): boolean {
  const since = world.holds.records.get(scope)?.unjoinedSince;
  if (!since || launchedAt < after(since, joinsWithin)) return false;
  const joins = world.nodes
    .all()
    .filter(({ pool }) => isCovered(rules, pool) && scopeFor(rules, pool) === scope);
  return !joins.some(({ joinedAt }) => joinedAt > after(since, -clocksDiffer));
}

/** The first launch of ten minutes, and the last node that had joined when they began. */
type Window = Readonly<{ from: Date; joinedAt: Date }>;

/** Launches that lead to no node hold nodes for minutes only: to count for longer they need a node that joined. */
export class JoinRules {
  readonly #world: World;
  /** By scope, the last launch that counted. */
  readonly #counted = new Map<Scope, Date>();
  readonly #windows = new Map<Scope, Window>();
  /** The windows that an invocation could know when it began. */
  readonly #known = new WeakMap<Invocation, ReadonlySet<Window>>();
  readonly #joined = new Map<Scope, Date>();
  /** By scope, since when the record knows of no node that joined. */
  readonly #unjoined = new Map<Scope, Date | undefined>();

  constructor(world: World) {
    this.#world = world;
  }

  check(invocation: Invocation): void {
    if (!this.#known.has(invocation)) this.#known.set(invocation, new Set(this.#windows.values()));
    for (const { pool, joinedAt } of this.#world.nodes.all()) {
      for (const scope of pool ? (["cluster", `nodepool/${pool}`] as const) : [])
        this.#joined.set(scope, later(this.#joined.get(scope) ?? joinedAt, joinedAt));
    }
    for (const [scope, { lastLaunchAt, hold, unjoinedSince }] of this.#world.holds.records) {
      if (!unjoinedSince) this.#checkJoined(invocation, scope, hold);
      this.#unjoined.set(scope, unjoinedSince);
      const window = this.#windows.get(scope);
      const isShort = window && this.#world.time < after(window.from, longestBoot + mostSkew);
      if (isShort && hold?.state !== "held") this.#windows.delete(scope);
      if (!lastLaunchAt || lastLaunchAt <= (this.#counted.get(scope) ?? 0)) continue;
      this.#counted.set(scope, lastLaunchAt);
      // With `hold=auto`, a launch whose hold would be over is learned from, and not held for.
      if (hold?.state === "held") this.#checkCounted(invocation, scope, lastLaunchAt);
    }
  }

  /** A join may be noted late, after launches that followed it: the next launch then begins its own ten minutes. */
  #checkJoined(invocation: Invocation, scope: Scope, hold: Hold | undefined): void {
    const since = this.#unjoined.get(scope);
    if (!since) return;
    // A hold that ends sooner than a node boots shows nothing.
    const isShort = this.#world.time < after(since, longestBoot + mostSkew);
    if (isShort && hold?.state !== "held") return;
    const joinedAt = this.#joined.get(scope) ?? new Date(0);
    if (this.#isSure(invocation)) {
      const facts = () => ({ scope, since, joinedAt });
      must(joinedAt > after(since, -clocksDiffer), "no join is noted where no node joined", facts);
    }
    this.#windows.delete(scope);
  }

  /** In doubt, when the API server does not answer, a launch is held for. */
  #isSure({ wasHindered, late, deadline }: Invocation): boolean {
    return !wasHindered && late.length === 0 && this.#world.time < deadline;
  }

  #checkCounted(invocation: Invocation, scope: Scope, launchedAt: Date): void {
    const window = this.#windows.get(scope);
    if (window && launchedAt < after(window.from, 2 * joinsWithin + mostSkew)) return;
    const joinedAt = this.#joined.get(scope) ?? new Date(0);
    // Twice as long, because a join may be noted after the launches that followed it.
    const isKnown = window !== undefined && this.#known.get(invocation)?.has(window);
    if (isKnown && this.#isSure(invocation)) {
      const facts = () => ({ scope, launchedAt, joinedAt, window });
      must(
        joinedAt > window.joinedAt || joinedAt > after(window.from, -clocksDiffer),
        "launches without a node count for minutes only",
        facts,
      );
    }
    this.#windows.set(scope, { from: launchedAt, joinedAt });
  }
}
