import { minutes, seconds } from "../../../lambda/core/duration.ts";
import type { LaunchEvent } from "../../../lambda/core/ports.ts";
import type { Scope } from "../../../lambda/core/scope.ts";
import type { Invocation } from "../../../simulator/invocation.ts";
import type { World } from "../../../simulator/world.ts";
import type { Karpenter } from "../karpenter.ts";
import { receivedLaunches } from "./received-launches.ts";
import type { RecordChange, RecordRules } from "./record-rules.ts";
import { must } from "./watcher.ts";

type Launched = ReturnType<Karpenter["ofScope"]>[number];

/** A launch that only replaces other nodes never starts or extends a hold; demand is recognised within a minute. */
export class DemandRules {
  readonly #world: World;
  readonly #karpenter: Karpenter;
  /** By scope, the launches that were judged replacements, also when their event has expired. */
  readonly #judged = new Map<Scope, Set<string>>();
  /** What was shown as a replacement when an invocation began. */
  readonly #shown = new WeakMap<Invocation, ReadonlySet<string>>();
  /** The launches on which an invocation could decide when it began. */
  readonly #received = new WeakMap<Invocation, ReturnType<typeof receivedLaunches>>();

  constructor(world: World, karpenter: Karpenter, records: RecordRules) {
    this.#world = world;
    this.#karpenter = karpenter;
    records.onChange((change) => this.#checkCounted(change));
    records.forgotten = (scope) => this.#judged.delete(scope);
  }

  begun(invocation: Invocation): void {
    this.#received.set(invocation, receivedLaunches(this.#world, invocation));
    const instances = [...this.#karpenter.launches.keys()];
    this.#shown.set(invocation, new Set(instances.filter((one) => this.#karpenter.isShown(one))));
  }

  /** An invocation that saw that a launch is a replacement must have noted it. */
  ended(invocation: Invocation): void {
    const { state, settings, wasHindered } = invocation;
    const isSure = state === "done" && !wasHindered && this.#karpenter.couldRead(invocation);
    if (!isSure || settings.replacements === "hold") return;
    for (const { scope, launch } of this.#received.get(invocation) ?? [])
      if (this.#isShownThroughout(invocation, launch.instance)) this.#judgedIn(scope).add(launch.instance);
  }

  #isShownThroughout(invocation: Invocation, instance: string): boolean {
    return (this.#shown.get(invocation)?.has(instance) ?? false) && this.#karpenter.isShown(instance);
  }

  #judgedIn(scope: Scope): Set<string> {
    const judged = this.#judged.get(scope) ?? new Set();
    this.#judged.set(scope, judged);
    return judged;
  }

  wasJudged(scope: Scope, instance: string): boolean {
    return this.#judged.get(scope)?.has(instance) ?? false;
  }

  /** Whether a launch is a replacement in truth, so that nothing promises it a hold. */
  isReplacement({ settings }: Invocation, instance: string): boolean {
    return (
      settings.replacements === "ignore" && this.#karpenter.launches.get(instance)?.namedAt !== undefined
    );
  }

  /** Whether an invocation had to know that a launch is demand. */
  mustKnow(invocation: Invocation, { launchedAt }: LaunchEvent): boolean {
    const { settings, begunAt, skew } = invocation;
    const age = begunAt.getTime() + skew - launchedAt.getTime();
    if (settings.replacements === "hold" || age >= minutes(1)) return true;
    const { claims, refusedWith } = this.#world.nodeClaims;
    if (!this.#karpenter.couldRead(invocation)) return false;
    if (refusedWith) return true;
    const wasAnyOpen = [...this.#karpenter.launches.values()].some(
      ({ instance, namedAt, knownAt }) => namedAt && (knownAt >= begunAt || !claims.get(instance)?.instance),
    );
    return age >= seconds(2) && !wasAnyOpen;
  }

  #checkCounted({ invocation, scope, before, record, facts }: RecordChange): void {
    for (const { instance } of record.replacements ?? []) this.#judgedIn(scope).add(instance);
    const { lastLaunchAt: until } = record;
    const from = before.lastLaunchAt ?? new Date(0);
    if (!until || until <= from || until < this.#karpenter.since) return;
    const counting = this.#karpenter
      .ofScope(scope)
      .filter(({ launchedAt }) => launchedAt > from && launchedAt <= until)
      .filter((launch) => this.#mayCount(invocation, scope, launch));
    const isAny = counting.some(({ launchedAt }) => launchedAt.getTime() === until.getTime());
    must(isAny, "a replacement alone never holds", facts);
    const already = before.hold?.id === record.hold?.id ? (before.hold?.launches ?? 0) : 0;
    const counted = (record.hold?.launches ?? 0) - already;
    const old =
      from < this.#karpenter.since ? this.#world.ec2.instances.size - this.#karpenter.launches.size : 0;
    must(counted <= counting.length + old, "no replacement is counted beside demand", facts);
  }

  #mayCount(invocation: Invocation, scope: Scope, launch: Launched): boolean {
    if (invocation.settings.replacements === "hold") return true;
    if (this.wasJudged(scope, launch.instance)) return false;
    if (!this.#karpenter.couldRead(invocation)) return true;
    if (invocation.skew <= 0 && this.#karpenter.isShownInTime(launch)) return false;
    return !this.#isShownThroughout(invocation, launch.instance);
  }
}
