import type { World } from "../../../simulator/world.ts";
import type { RecordRules } from "./record-rules.ts";
import { must } from "./watcher.ts";

/** History lists exactly the holds that ended. */
export class HistoryRules {
  readonly #world: World;
  readonly #records: RecordRules;

  constructor(world: World, records: RecordRules) {
    this.#world = world;
    this.#records = records;
  }

  check(call: string): void {
    if (call === "remember") {
      for (const past of this.#world.journal.past.values())
        must(!this.#records.running(past.id), "no running hold is in history", () => past);
    }
    if (call === "arm") {
      for (const armed of this.#world.oneShots.armed.values())
        must(
          this.#records.lives.has(armed.holdId),
          "nothing is armed for a hold never recorded",
          () => armed,
        );
    }
  }

  atRest(): void {
    const { past } = this.#world.journal;
    for (const { hold, scope } of this.#world.holds.records.values())
      must(hold === undefined, "every hold ends", () => ({ scope, hold }));
    const launches = this.#world.ec2.instances.size;
    const lives = [...this.#records.lives].filter(([, { isLost }]) => !isLost);
    for (const [id, life] of lives) {
      const entry = past.get(id);
      const facts = () => ({ entry, life });
      must(entry !== undefined, "every hold is in history", facts);
      must(entry.scope === life.scope, "history has the scope", facts);
      must(entry.extensions === life.extensions, "history counts the extensions", facts);
      must(entry.expiresAt.getTime() === life.hold.expiresAt.getTime(), "history has the last expiry", facts);
      must(entry.endedAt.getTime() >= entry.startedAt.getTime() - 8_000, "a hold ends after it began", facts);
      must(entry.launches <= launches, "no duplicate event is counted", facts);
    }
    const unknown = [...past.keys()].filter((id) => !this.#records.lives.has(id));
    must(unknown.length === 0, "history lists nothing else", () => unknown);
  }
}
