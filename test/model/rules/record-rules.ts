import { after, earlier } from "../../../lambda/core/duration.ts";
import type { Hold, ScopeRecord } from "../../../lambda/core/holds/hold.ts";
import { type Scope, wholeCluster } from "../../../lambda/core/scope.ts";
import type { Invocation } from "../../../simulator/invocation.ts";
import type { World } from "../../../simulator/world.ts";
import { mostSkew } from "../commands.ts";
import { dueOf, isUnjoined, latestEnd, leastHold, mostHold } from "./oracle.ts";
import { must } from "./watcher.ts";

/** The reasons of holds that end by their time; all but the first are followed by a breather. */
const byTime = ["the hold expired", "the hold has reached its cap", "none of its nodes has joined"];

/** The observed history of one hold; `from` is a launch that counted, `since` the last that counted before all of its own. */
export type Life = {
  scope: Scope;
  hold: Hold;
  extensions: number;
  from?: Date;
  since?: Date;
  /** When the record first named a launch of it. */
  burstSeenAt?: Date;
  isLost?: true;
};

/** One write of a record. */
export type RecordChange = Readonly<{
  invocation: Invocation;
  scope: Scope;
  before: ScopeRecord;
  record: ScopeRecord;
  facts: () => unknown;
}>;

/** The rules for changes of a record. */
export class RecordRules {
  /** Every hold of the run, by its id. */
  readonly lives = new Map<string, Life>();
  /** Called when a hold ends early or the watermark moves; for one scope or for all. */
  cutShort: (scope: Scope | "everywhere", until: Date) => void = () => {};
  /** Called when the content of a record is lost. */
  forgotten: (scope: Scope) => void = () => {};
  /** The nodes that were marked during this hold and still are. */
  marksLeft: (holdId: string) => readonly string[] = () => [];
  readonly #world: World;
  readonly #listeners: ((change: RecordChange) => void)[] = [];
  /** A launch that waited with a shorter setting does not wait again with a longer one. */
  #shortestDelay = Number.POSITIVE_INFINITY;
  readonly #seen = new Map<Scope, ScopeRecord>();
  /** When a scope was last released by hand. */
  readonly #forced = new Map<Scope, Date>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Calls `listener` with every write of a record, after it was checked here. */
  onChange(listener: (change: RecordChange) => void): void {
    this.#listeners.push(listener);
  }

  /** The current record of this hold. */
  hold(holdId: string): Hold | undefined {
    const life = this.lives.get(holdId);
    const hold = life && this.#world.holds.records.get(life.scope)?.hold;
    return hold?.id === holdId ? hold : undefined;
  }

  running(holdId: string): boolean {
    return this.hold(holdId)?.state === "held";
  }

  check(invocation: Invocation): void {
    this.#shortestDelay = Math.min(this.#shortestDelay, invocation.settings.initialDelay);
    for (const [scope, record] of this.#world.holds.records) {
      const before = this.#seen.get(scope) ?? { scope, version: 0 };
      if (before.version === record.version) continue;
      this.#seen.set(scope, record);
      if (record.unreadable) {
        this.#lost(before);
        continue;
      }
      const facts = () => ({ before, record, by: invocation.name });
      const change = { invocation, scope, before, record, facts };
      const from = before.lastLaunchAt ?? new Date(0);
      must(
        !before.lastLaunchAt || (record.lastLaunchAt ?? from) >= from,
        "the last launch never moves back",
        facts,
      );
      const isMoved = before.launchesCountFrom?.getTime() !== record.launchesCountFrom?.getTime();
      const isByHand = invocation.name === "control";
      const until = record.launchesCountFrom ?? this.#world.time;
      if (isMoved) this.cutShort(isByHand && scope === wholeCluster ? "everywhere" : scope, until);
      if (record.hold && before.hold?.id === record.hold.id) this.#changed(change, before.hold, record.hold);
      else if (record.hold) this.#started(change, record.hold);
      else if (before.hold) this.#closed(before.hold, facts);
      const life = record.hold && this.lives.get(record.hold.id);
      if (life && record.lastLaunchAt && record.lastLaunchAt > from) {
        life.from ??= record.lastLaunchAt;
        life.since ??= from;
      }
      if (life && record.hold?.burstFrom) life.burstSeenAt ??= this.#world.time;
      for (const listener of this.#listeners) listener(change);
    }
  }

  /** The record was made unreadable by hand: its content counts as never written. */
  #lost({ scope, hold }: ScopeRecord): void {
    const life = hold && this.lives.get(hold.id);
    if (life) life.isLost = true;
    this.#forced.delete(scope);
    this.cutShort(scope, this.#world.time);
    this.forgotten(scope);
  }

  #started({ invocation, before, record, facts }: RecordChange, hold: Hold): void {
    must(before.hold?.state !== "held", "a running hold is never replaced", facts);
    must(!this.lives.has(hold.id), "a hold's id is unique", facts);
    must(hold.state === "held", "a hold starts in state held", facts);
    const now = after(this.#world.time, invocation.skew);
    must(hold.expiresAt > new Date(now.getTime() - 300_000), "no hold starts after its expiry", facts);
    const cap = latestEnd(hold, invocation.settings);
    must(!cap || hold.expiresAt <= after(cap, mostSkew), "no hold is longer than the cap", facts);
    this.lives.set(hold.id, { scope: record.scope, hold, extensions: 0 });
    if (!hold.startedBecause.startsWith("a node was launched")) return;
    const counts = before.launchesCountFrom ?? new Date(0);
    must(hold.causedAt >= counts, "a launch before the watermark starts nothing", facts);
    const forced = this.#forced.get(record.scope) ?? new Date(0);
    must(after(hold.causedAt, mostSkew) >= forced, "a forced release stays released", facts);
    const last = before.lastLaunchAt ?? new Date(0);
    must(hold.causedAt > last, "a launch that is not new starts nothing", facts);
    const earliest = after(hold.causedAt, this.#shortestDelay - mostSkew);
    must(this.#world.time >= earliest, "nothing is held before the initial delay", facts);
    const [least, most] = [leastHold(invocation.settings), mostHold(hold, invocation.settings)];
    must(hold.expiresAt >= after(hold.causedAt, least), "a hold lasts from its launch", facts);
    must(hold.expiresAt <= after(hold.causedAt, most), "a hold lasts no longer than its launch asks", facts);
  }

  #changed(change: RecordChange, old: Hold, hold: Hold): void {
    const { invocation, facts } = change;
    const life = this.lives.get(hold.id);
    must(life !== undefined, "a hold is recorded from its start", facts);
    if (hold.expiresAt < old.expiresAt) {
      const { hand, event, window } = hold.causes;
      const mayEnd = invocation.settings.auto && !hand && !event && !window;
      must(mayEnd, "expiry never moves back, but for what was learned of a burst", facts);
      const asked = after(hold.causedAt, hold.length?.length ?? 0);
      must(
        hold.expiresAt >= earlier(asked, latestEnd(hold, invocation.settings) ?? asked),
        "a hold lasts from its last launch",
        facts,
      );
    }
    must(hold.nodes >= old.nodes && hold.launches >= old.launches, "a hold only counts up", facts);
    if (hold.expiresAt > old.expiresAt) {
      const counted = hold.extensions - old.extensions;
      life.extensions += counted;
      // Waiting for nodes that boot, or counting what was asked meanwhile, is no extension.
      const isBoot = counted === 0 && (invocation.settings.auto || isUnjoined(old));
      must(counted === 1 || isBoot, "each extension is counted once", facts);
      must(old.state === "held" && hold.state === "held", "only a running hold is extended", facts);
      const cap = latestEnd(hold, invocation.settings);
      must(!cap || hold.expiresAt <= cap, "no hold is longer than the cap", facts);
    }
    life.hold = hold;
    if (old.state === hold.state) return;
    must(old.state === "held", "a release is never undone", facts);
    this.#fenced(change, hold);
  }

  #fenced({ invocation, before, record, facts }: RecordChange, hold: Hold): void {
    const because = hold.endsBecause ?? "";
    const [expired] = byTime;
    const now = after(this.#world.time, invocation.skew);
    const isByTime = byTime.includes(because);
    must(!isByTime || now >= dueOf(hold, invocation.settings), "no hold ends before its time", facts);
    const cap = latestEnd(hold, invocation.settings);
    const isCapped = hold.capped || (cap !== undefined && cap < hold.expiresAt);
    must(because !== expired || !isCapped, "a capped hold ends with the cap as its reason", facts);
    const { burstSeenAt = new Date(0) } = this.lives.get(hold.id) ?? {};
    const mustKnow = isUnjoined(hold) && burstSeenAt < invocation.begunAt;
    must(because !== expired || !mustKnow, "a hold without a node ends with that as its reason", facts);
    if (because !== expired) this.cutShort(record.scope, this.#world.time);
    if (because.includes(" by hand: ")) this.#forced.set(record.scope, invocation.begunAt);
    if (!isByTime || because === expired) return;
    const begun = after(dueOf(hold, invocation.settings), invocation.settings.breather);
    const isSilent = (record.launchesCountFrom ?? new Date(0)) >= begun && record.quiet?.kind === "breather";
    must(isSilent && before.hold !== undefined, "after a hold that is cut short comes the breather", facts);
  }

  #closed(hold: Hold, facts: () => unknown): void {
    must(hold.state === "releasing", "no hold ends without the fence", facts);
    must(this.marksLeft(hold.id).length === 0, "a hold is closed when its marks are off", facts);
    must(this.#world.journal.past.has(hold.id), "a hold that ended is in history first", facts);
  }
}
