import { after, earlier } from "../../lambda/core/duration.ts";
import { capOf, watermarkOf } from "../../lambda/core/hold.ts";
import type { LaunchHeard } from "../../lambda/core/ports.ts";
import { scopeOf } from "../../lambda/core/rules.ts";
import { type Scope, wholeCluster } from "../../lambda/core/scope.ts";
import { parseMessage } from "../../lambda/handlers/events.ts";
import type { Invocation } from "../support/invocation.ts";
import type { QueueMessage } from "../support/launch-queue.ts";
import type { World } from "../support/world.ts";
import { mostSkew } from "./commands.ts";
import type { RecordRules } from "./record-rules.ts";
import { must } from "./watcher.ts";

type Kept = Readonly<{ scope: Scope; launch: LaunchHeard }>;

/** A launch that was heard is held for, to its end, unless somebody or the cap ends it. */
export class PromiseRules {
  readonly #world: World;
  #promises: Kept[] = [];
  /** When somebody or the cap last ended a hold: that ends all promises to launches until then. */
  readonly #cuts = new Map<Scope, Date>();
  readonly #hearing = new Map<Invocation, Kept[]>();

  constructor(world: World, records: RecordRules) {
    this.#world = world;
    records.cutShort = (scope) => this.#cuts.set(scope, world.time);
  }

  check(invocation: Invocation, call: string): void {
    if (invocation.name === "hold" && call === "")
      this.#hearing.set(invocation, this.#heard(invocation.messages));
    if (invocation.state === "resting") return;
    if (invocation.state === "done") this.#promises.push(...(this.#hearing.get(invocation) ?? []));
    this.#hearing.delete(invocation);
    this.#promises = this.#promises.filter(({ launch }) => this.#lasts(launch));
    for (const promise of this.#promises) this.#checkOne(promise);
  }

  #lasts({ launchedAt }: LaunchHeard): boolean {
    return after(launchedAt, this.#world.rules.hold - 2 * mostSkew) > this.#world.time;
  }

  #checkOne({ scope, launch }: Kept): void {
    const { holds, rules } = this.#world;
    for (const cut of [this.#cuts.get(scope), this.#cuts.get(wholeCluster)])
      if (cut && launch.launchedAt <= cut) return;
    const record = holds.records.get(scope);
    const whole = holds.records.get(wholeCluster);
    const watermark = record ?? whole;
    if (watermark && launch.launchedAt <= watermarkOf(watermark, whole).from) return;
    const hold = record?.hold;
    const facts = () => ({ launch, record });
    must(hold?.state === "held", "a launch that was heard is held for", facts);
    const asked = after(launch.launchedAt, rules.hold - mostSkew);
    const expiry = earlier(asked, capOf(rules, hold.startedAt) ?? asked);
    must(hold.expiresAt >= expiry, "a hold lasts as long as each launch asks", facts);
  }

  #heard(messages: readonly QueueMessage[]): Kept[] {
    const { rules, instances } = this.#world;
    return messages.flatMap(({ body }) => {
      const message = parseMessage(body);
      const launches =
        message.kind === "launch" && rules.initialDelay === 0
          ? [message.launch]
          : message.kind === "followUp" && message.followUp.kind === "launches"
            ? message.followUp.launches
            : [];
      return launches.flatMap((launch): Kept[] => {
        const pool = instances.instances.get(launch.instance)?.nodePool;
        const isKnown = pool !== undefined && !instances.unknownYet.has(launch.instance);
        return isKnown ? [{ scope: scopeOf(rules, pool), launch }] : [];
      });
    });
  }
}
