import { after, type Duration, later, minutes } from "../../../lambda/core/duration.ts";
import type { Scope } from "../../../lambda/core/scope.ts";
import type { World } from "../../../simulator/world.ts";
import { bootTime, isCovered, isUnjoined, isWithin } from "./oracle.ts";
import type { RecordChange, RecordRules } from "./record-rules.ts";
import { must } from "./watcher.ts";

const clocksDiffer: Duration = minutes(1);
const never = new Date(0);

/** Launches that lead to no node hold nodes for one length of a hold at most: to last longer it needs a node that joined. */
export class JoinRules {
  readonly #world: World;
  /** By scope, when the last node has joined, also one that is gone again. */
  readonly #joined = new Map<Scope, Date>();

  constructor(world: World, records: RecordRules) {
    this.#world = world;
    records.onChange((change) => this.#check(change));
  }

  /** Before each check of the records. */
  look(): void {
    for (const { pool, joinedAt } of this.#world.nodes.all()) {
      for (const scope of pool ? (["cluster", `nodepool/${pool}`] as const) : [])
        this.#joined.set(scope, later(this.#joined.get(scope) ?? never, joinedAt));
    }
  }

  #check({ invocation, scope, before, record: { hold }, facts }: RecordChange): void {
    const { settings, begunAt } = invocation;
    const old = before.hold;
    if (!hold?.burstFrom || hold.id !== old?.id || !isUnjoined(old)) return;
    const from = after(hold.burstFrom, -clocksDiffer);
    const joinedAt = this.#joined.get(scope) ?? never;
    if (hold.joined) {
      // When the API server does not answer, the hold counts as joined.
      const isSure = !invocation.wasHindered && invocation.late.length === 0;
      must(!isSure || joinedAt > from, "no join is noted where no node joined", facts);
      return;
    }
    const isByHand = invocation.name === "control";
    const most = later(old.expiresAt, after(hold.burstFrom, settings.hold + bootTime));
    must(isByHand || hold.expiresAt <= most, "no launch extends a hold without a node", facts);
    if (old.state !== "held" || hold.endsBecause !== "none of its nodes has joined") return;
    const mustSee = this.#world.nodes.all().filter(({ pool, joinedAt }) => {
      const isOfScope = isCovered(settings, pool) && isWithin(scope, pool);
      return isOfScope && joinedAt > from && joinedAt < begunAt;
    });
    must(mustSee.length === 0, "a hold whose node has joined does not end for want of one", facts);
  }
}
