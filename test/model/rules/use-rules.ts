import { after, type Duration, earlier, later, minutes, seconds } from "../../../lambda/core/duration.ts";
import type { Hold } from "../../../lambda/core/holds/hold.ts";
import type { Invocation } from "../../../simulator/invocation.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import type { World } from "../../../simulator/world.ts";
import { mostSkew } from "../commands.ts";
import type { Karpenter, Use } from "../karpenter.ts";
import type { DemandRules } from "./demand-rules.ts";
import { belongs, bootTime, isCovered, isUnjoined, latestEnd, mostHold } from "./oracle.ts";
import type { RecordChange, RecordRules } from "./record-rules.ts";
import { must } from "./watcher.ts";

/** A node may join this long before its launch, by another clock; Karpenter notes whole seconds. */
const joinsBefore: Duration = minutes(1) + seconds(1);
/** A use is as large as a burst when half of the burst nodes are used within this time. */
const atOnce: Duration = minutes(1);
const tolerance: Duration = mostSkew + seconds(1);

/** Until when a hold lasts, or will once a node has joined. */
const wanted = ({ expiresAt, askedUntil = expiresAt }: Hold): Date => later(expiresAt, askedUntil);

/** From when on half of the burst nodes or more were used within a time. */
function largeUses(uses: readonly Use[], burstNodes: number, within: Duration): readonly Date[] {
  const nodesFrom = (begin: Date) => {
    const following = uses.filter(({ at }) => at >= begin && at <= after(begin, within));
    return new Set(following.map(({ instance }) => instance)).size;
  };
  return uses.map(({ at }) => at).filter((begin) => nodesFrom(begin) >= burstNodes / 2);
}

/** A hold lasts as long as the last launch or large use of its nodes asks, and no longer. */
export class UseRules {
  readonly #world: World;
  readonly #karpenter: Karpenter;
  readonly #records: RecordRules;
  readonly #demand: DemandRules;

  constructor(
    world: World,
    {
      karpenter,
      records,
      demand,
    }: Readonly<{ karpenter: Karpenter; records: RecordRules; demand: DemandRules }>,
  ) {
    this.#world = world;
    this.#karpenter = karpenter;
    this.#records = records;
    this.#demand = demand;
    records.onChange((change) => {
      this.#checkExtended(change);
      this.#checkEnded(change);
    });
  }

  #checkExtended({ invocation, scope, before, record: { hold }, facts }: RecordChange): void {
    if (!hold || before.hold?.id !== hold.id || wanted(hold) <= wanted(before.hold)) return;
    if (invocation.name === "control") return;
    const { settings } = invocation;
    const { burstFrom } = hold;
    const latest = burstFrom && after(burstFrom, settings.hold + bootTime + tolerance);
    if (isUnjoined(hold) && latest && wanted(hold) <= latest) return;
    const since = this.#burstSince(hold, facts);
    const counts = (instance: string) =>
      settings.replacements === "hold" || !this.#demand.wasJudged(scope, instance);
    const launches = this.#karpenter.ofScope(scope).filter(({ instance }) => counts(instance));
    const { joined } = this.#karpenter;
    const burst = launches.filter(({ instance }) => (joined.get(instance) ?? new Date(0)) > since);
    const { burstNodes = 0 } = hold;
    // A replacement may count until it is recognised.
    const here = this.#karpenter.ofScope(scope).filter(({ instance }) => joined.has(instance));
    // A node from before the beginning may look like a launch that was missed.
    const isKnown = burstFrom && burstFrom >= noon;
    must(
      !isKnown || burstNodes <= here.length,
      "a burst is no larger than what was launched and joined",
      facts,
    );
    const uses = this.#karpenter.uses.filter(({ instance }) =>
      burst.some((launch) => launch.instance === instance),
    );
    const moments = [
      ...launches.map(({ launchedAt }) => launchedAt),
      ...largeUses(uses, burstNodes, atOnce + seconds(1)),
    ];
    const cap = latestEnd(hold, settings);
    const isAsked = moments.some((moment) => {
      const asked = after(moment, mostHold(hold, settings));
      const capped = (moment: Date) => (cap ? earlier(moment, cap) : moment);
      const less = capped(asked).getTime() - capped(wanted(hold)).getTime();
      return less >= -tolerance && (settings.auto || less <= tolerance);
    });
    must(isAsked, "a hold is extended for a launch or a use alone, and as long as that asks", () => [
      facts(),
      uses,
    ]);
  }

  #checkEnded({ invocation, scope, before, record: { hold }, facts }: RecordChange): void {
    if (!hold || before.hold?.id !== hold.id || before.hold.state !== "held") return;
    if (hold.endsBecause !== "the hold expired" || !this.#readUse(invocation)) return;
    const { settings, skew, begunAt } = invocation;
    if (!belongs(settings, scope)) return;
    const from = this.#records.lives.get(hold.id)?.from;
    const now = after(this.#world.time, skew);
    const cap = latestEnd(hold, settings);
    if (cap && now >= cap) return;
    const burst = this.#karpenter
      .ofScope(scope)
      .filter(({ nodePool }) => isCovered(settings, nodePool))
      .filter(({ launchedAt, namedAt }) => from && launchedAt >= from && launchedAt < begunAt && !namedAt);
    const here = burst.filter(({ instance }) => this.#has(instance));
    const uses = this.#karpenter.uses.filter((use) => here.some(({ instance }) => instance === use.instance));
    if (settings.auto)
      for (const { instance, launchedAt } of here) {
        const joined = this.#karpenter.joined.get(instance);
        const latest = after(launchedAt, bootTime);
        const end = joined ? earlier(latest, after(joined, atOnce)) : latest;
        const isBooting = after(end, -tolerance) > now;
        const isUsed = uses.some((use) => use.instance === instance);
        must(isUsed || !isBooting, "a hold whose nodes boot is not released", facts);
      }
    // It may or may not have seen a use since it began, and that hides an earlier one of the same node.
    // Use of a small burst does not extend what a person asked for.
    else if (!uses.some(({ at }) => at >= begunAt) && !(hold.causes.hand && (hold.burstNodes ?? 0) < 3)) {
      const last = new Map(uses.map((use) => [use.instance, use]));
      const all = this.#karpenter
        .ofScope(scope)
        .filter(({ instance }) => this.#karpenter.joined.has(instance));
      const burstNodes = Math.max(hold.burstNodes ?? 0, all.length);
      const isNeeded = largeUses([...last.values()], burstNodes, atOnce - seconds(1)).some(
        (at) => after(at, settings.hold - tolerance) > now,
      );
      must(!isNeeded, "a hold that is used by as much as a burst is not released", () => [facts(), uses]);
    }
  }

  /** Of older nodes no use counts. */
  #burstSince(hold: Hold, facts: () => unknown): Date {
    const { since = new Date(0) } = this.#records.lives.get(hold.id) ?? {};
    must(!hold.burstFrom || hold.burstFrom > since, "a burst begins after the last one", facts);
    return after(hold.burstFrom ?? since, -joinsBefore);
  }

  #has(instance: string): boolean {
    return this.#world.nodeClaims.claims.has(instance);
  }

  #readUse(invocation: Invocation): boolean {
    const { refusedWith, version } = this.#world.nodeClaims;
    const isReadable = !refusedWith && version === "v1";
    return isReadable && invocation.settings.extendOn === "use" && this.#karpenter.couldRead(invocation);
  }
}
