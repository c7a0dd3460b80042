import { after, type Duration, earlier, later, seconds } from "../../../lambda/core/duration.ts";
import type { LaunchEvent } from "../../../lambda/core/ports.ts";
import { type Scope, wholeCluster } from "../../../lambda/core/scope.ts";
import { parseMessage } from "../../../lambda/handlers/events.ts";
import type { Invocation } from "../../../simulator/invocation.ts";
import type { World } from "../../../simulator/world.ts";
import { mostSkew } from "../commands.ts";
import type { DemandRules } from "./demand-rules.ts";
import { belongs, isUnjoined, latestEnd, leastHold } from "./oracle.ts";
import { receivedLaunches } from "./received-launches.ts";
import type { RecordRules } from "./record-rules.ts";
import { must } from "./watcher.ts";

/** The longest time between two checks of a launch that may be a replacement. */
const longestDoubt = seconds(5);

type Kept = {
  readonly scope: Scope;
  readonly launch: LaunchEvent;
  hold: Duration;
  maxHold: Duration;
};

/** A handled launch is held until its expiry, unless an operator or the cap ends the hold. */
export class PromiseRules {
  readonly #world: World;
  readonly #demand: DemandRules;
  #promises: Kept[] = [];
  /** A launch that was held with a shorter setting is not held again with a longer one. */
  #shortestHold = Number.POSITIVE_INFINITY;
  /** When an operator or the cap last ended a hold: earlier launches need not be held any more. */
  readonly #cuts = new Map<Scope | "everywhere", Date>();
  readonly #received = new Map<Invocation, Kept[]>();

  constructor(world: World, records: RecordRules, demand: DemandRules) {
    this.#world = world;
    this.#demand = demand;
    records.cutShort = (scope, until) => this.#cuts.set(scope, later(until, world.time));
  }

  check(invocation: Invocation, call: string): void {
    if (invocation.name === "hold" && call === "")
      this.#received.set(invocation, this.#receivedBy(invocation));
    const { maxHold } = invocation.settings;
    const hold = leastHold(invocation.settings);
    this.#shortestHold = Math.min(this.#shortestHold, hold);
    // This function may also decide on launches that another one received.
    const received = [...this.#received.values()].flat();
    // With `hold=auto` looks decide anew when a hold ends, also one that began with another setting.
    for (const one of [...received, ...(invocation.settings.auto ? this.#promises : [])])
      one.hold = Math.min(one.hold, hold);
    for (const one of [...this.#promises, ...received])
      if (maxHold > 0 && !(one.maxHold > 0 && one.maxHold < maxHold)) one.maxHold = maxHold;
    if (invocation.state === "running") return;
    const isDone = invocation.state === "done" && !invocation.wasDisturbed;
    const isHindered = invocation.refused.some((call) => call !== "events" && call !== "claims");
    const handled = isDone && !isHindered ? (this.#received.get(invocation) ?? []) : [];
    this.#received.delete(invocation);
    const isKnown = ({ launch }: Kept) => this.#demand.mustKnow(invocation, launch);
    this.#promises.push(...handled.filter(isKnown));
    this.#promises = this.#promises.filter((promise) => this.#lasts(promise));
    for (const promise of this.#promises) this.#checkOne(promise);
    for (const promise of handled.filter((one) => !isKnown(one) && this.#lasts(one)))
      if (!this.#isAwaited(promise)) this.#checkOne(promise);
  }

  /** Whether a launch of which nothing is known yet is judged again within seconds. */
  #isAwaited({ launch }: Kept): boolean {
    const soon = after(this.#world.time, longestDoubt);
    return this.#world.queue.messages.some(({ body, visibleAt, receives }) => {
      const message = parseMessage(body);
      if (message.kind !== "followUp" || message.followUp.kind !== "launches") return false;
      const isThere = message.followUp.launches.some(({ instance }) => instance === launch.instance);
      return isThere && (receives > 0 || visibleAt <= soon);
    });
  }

  #lasts({ launch, hold }: Kept): boolean {
    return after(launch.launchedAt, hold - 2 * mostSkew) > this.#world.time;
  }

  #checkOne({ scope, launch, hold: asks, maxHold }: Kept): void {
    const { holds, settings } = this.#world;
    // A launch that is judged again after a deployment is held in its new scope.
    if (!belongs(settings, scope)) return;
    const record = holds.records.get(scope);
    const isPast = (moment: Date | undefined) => moment !== undefined && launch.launchedAt <= moment;
    if (isPast(this.#cuts.get(scope)) || isPast(this.#cuts.get("everywhere"))) return;
    if (isPast(record?.launchesCountFrom) || isPast(this.#silentUntil(wholeCluster))) return;
    const hold = record?.hold;
    const facts = () => ({ launch, record });
    must(hold?.state === "held", "a handled launch is held", facts);
    const asked = after(launch.launchedAt, asks - mostSkew);
    const expiry = earlier(asked, latestEnd(hold, { maxHold }) ?? asked);
    // Before a node has joined, what further launches ask is only noted.
    const lasts = isUnjoined(hold)
      ? later(hold.expiresAt, hold.askedUntil ?? hold.expiresAt)
      : hold.expiresAt;
    must(lasts >= expiry, "a hold lasts as long as each launch asks", facts);
    must(!(hold.narrowsAt && hold.narrowsAt < expiry), "until then it protects all nodes", facts);
  }

  /** The end of a pause or breather. */
  #silentUntil(scope: Scope): Date | undefined {
    const record = this.#world.holds.records.get(scope);
    return record?.quiet && record.launchesCountFrom;
  }

  #receivedBy(invocation: Invocation): Kept[] {
    const { maxHold } = invocation.settings;
    const hold = leastHold(invocation.settings);
    return receivedLaunches(this.#world, invocation)
      .filter(({ launch }) => !this.#demand.isReplacement(invocation, launch.instance))
      .map((received) => ({ ...received, maxHold, hold: Math.min(this.#shortestHold, hold) }));
  }
}
