import { after, type Duration, later, minutes, seconds } from "../../../lambda/core/duration.ts";
import type { Hold } from "../../../lambda/core/holds/hold.ts";
import { holdLabel } from "../../../lambda/core/marks/keys.ts";
import type { NodeView } from "../../../simulator/cluster-view.ts";
import type { Invocation } from "../../../simulator/invocation.ts";
import type { World } from "../../../simulator/world.ts";
import { mostSkew } from "../commands.ts";
import type { Karpenter } from "../karpenter.ts";
import { isUnjoined } from "./oracle.ts";
import type { RecordChange, RecordRules } from "./record-rules.ts";
import { lacksMark } from "./unhealed.ts";
import { must } from "./watcher.ts";

/** Karpenter notes whole seconds. */
const wholeSecond: Duration = seconds(1);
/** A node may join this long before its launch, by another clock. */
const clocksDiffer: Duration = minutes(1);
const never = new Date(0);

/** A look has recorded that it lets nodes go. A launch or request that comes after that asks for them again, and marks them. */
type Note = { readonly hold: Hold; readonly names: string[]; overtakenBy?: Invocation; drifted: number };
type Free = Readonly<{ at: Date; usedFrom: Date }>;

/** Which nodes a look may let go while their hold goes on, and what marks them again. */
export class LetGoRules {
  readonly #world: World;
  readonly #karpenter: Karpenter;
  readonly #records: RecordRules;
  readonly #notes = new Map<Invocation, Map<string, Note>>();
  /** By hold, the nodes that were let go. */
  readonly #free = new Map<string, Map<string, Free>>();
  /** By hold, the nodes that lack a mark because a user or a deployment removed it after nodes were let go. */
  readonly #excused = new Map<string, Set<string>>();
  readonly #widened = new Map<string, Date>();
  /** By hold, the shortest time for which it lasted after a use. */
  readonly #lengths = new Map<string, Duration>();
  /** The nodes that a look must mark again. */
  readonly #again = new Map<Invocation, readonly Readonly<{ holdId: string; name: string; free: Free }>[]>();

  constructor(world: World, karpenter: Karpenter, records: RecordRules) {
    this.#world = world;
    this.#karpenter = karpenter;
    this.#records = records;
    records.onChange((change) => this.#changed(change));
  }

  /** Whether a node may be without the mark of its running hold. */
  excuses(holdId: string, name: string): boolean {
    return Boolean(this.#free.get(holdId)?.has(name) || this.#excused.get(holdId)?.has(name));
  }

  /** When a launch or request last asked for all nodes again. */
  widenedAt(holdId: string): Date {
    return this.#widened.get(holdId) ?? never;
  }

  /** A user or a deployment has changed the mark of a node: once nodes were let go, only looks mark older nodes. */
  excuse(name: string): void {
    for (const { hold } of this.#world.holds.records.values()) {
      if (hold?.state !== "held" || !(hold.marksFrom || this.#world.running.size > 0)) continue;
      this.#excused.set(hold.id, (this.#excused.get(hold.id) ?? new Set()).add(name));
    }
  }

  excuseAll(): void {
    for (const { name } of this.#world.nodes.all()) this.excuse(name);
  }

  #changed({ invocation, before: { hold: old }, record: { hold }, facts }: RecordChange): void {
    if (!hold) return;
    const { settings, begunAt, skew } = invocation;
    const length = settings.auto ? (hold.length?.length ?? settings.hold) : settings.hold;
    this.#lengths.set(hold.id, Math.min(length, this.#lengths.get(hold.id) ?? length));
    if (hold.id !== old?.id || hold.state !== "held") return;
    const isAsked = hold.launches > old.launches || (!old.causes.hand && hold.causes.hand);
    if (isAsked || (old.marksFrom && !hold.marksFrom)) this.#widen(hold.id, invocation);
    const { marksFrom, narrowsAt } = hold;
    const isNoted =
      marksFrom &&
      (marksFrom.getTime() !== old.marksFrom?.getTime() || marksFrom >= after(begunAt, skew)) &&
      !isAsked;
    if (narrowsAt && !old.narrowsAt)
      must((hold.burstNodes ?? 0) < 3 && !isUnjoined(hold), "only a small burst narrows its hold", facts);
    if (!isNoted) return;
    must(!hold.causes.hand, "no node is let go of a hold that a person asked for", facts);
    const notes = this.#notes.get(invocation) ?? new Map<string, Note>();
    this.#notes.set(invocation, notes.set(hold.id, { hold, names: [], drifted: 0 }));
    if (settings !== this.#world.settings) this.excuseAll();
    // An orphaned mark of a younger hold stays until a sweep removes it; that sweep marks no older nodes any more.
    for (const { name, labels } of this.#world.nodes.all())
      if (labels[holdLabel] !== undefined && labels[holdLabel] !== hold.id) this.excuse(name);
  }

  #widen(holdId: string, by: Invocation): void {
    this.#widened.set(holdId, this.#world.time);
    this.#free.delete(holdId);
    this.#excused.delete(holdId);
    for (const notes of this.#notes.values()) {
      const note = notes.get(holdId);
      if (note) note.overtakenBy = by;
    }
  }

  /** A mark came off while its hold goes on. */
  unmarked(by: Invocation, node: NodeView, holdId: string): void {
    const note = this.#notes.get(by)?.get(holdId);
    const facts = () => ({ node, by: by.name, note, claim: this.#claimOf(node) });
    must(note !== undefined, "no node is let go before that is recorded", facts);
    const { marksFrom = never } = note.hold;
    const because = this.#whyLetGo(by, node, note.hold);
    must(because !== undefined, "a node of a running hold is let go for a reason alone", facts);
    if (because === "drifted") note.drifted += 1;
    const most = by.settings.driftWait === 0 ? Number.POSITIVE_INFINITY : this.#world.nodes.all().length / 10;
    must(note.drifted <= Math.ceil(most), "drifted nodes are let go a tenth at a time", facts);
    note.names.push(node.name);
    if (note.overtakenBy) return;
    const free = { at: this.#world.time, usedFrom: after(marksFrom, -(mostSkew + wholeSecond)) };
    this.#free.set(holdId, (this.#free.get(holdId) ?? new Map()).set(node.name, free));
  }

  #claimOf({ instance }: NodeView) {
    return this.#world.nodeClaims.claims.get(instance);
  }

  #whyLetGo(by: Invocation, node: NodeView, hold: Hold): string | undefined {
    const { joinedAt } = this.#claimOf(node) ?? {};
    if (!joinedAt) return undefined;
    const { settings, begunAt, skew } = by;
    const now = after(this.#world.time, skew);
    // A use since it began may have been read or not.
    const used = this.#usesOf(node).filter((at) => at < begunAt);
    const length = this.#lengths.get(hold.id) ?? settings.hold;
    const isUsed = after(used.reduce(later, joinedAt), length - wholeSecond) > now;
    const isOfBurst = hold.burstFrom && joinedAt >= after(hold.burstFrom, wholeSecond - clocksDiffer);
    if (hold.narrowsAt && hold.narrowsAt <= now && !(isOfBurst && isUsed)) return "small burst";
    const isEmpty = this.#karpenter.mayHaveReadNoPod(by, node.name);
    if (settings.letGo === "empty" && !isUsed && isEmpty) return "empty";
    return this.#hasDrifted(node, by, after(this.#world.time, wholeSecond)) ? "drifted" : undefined;
  }

  /** Whether the drift of a node had waited long enough then. */
  #hasDrifted(node: NodeView, { settings, skew }: Invocation, then: Date): boolean {
    const { joinedAt, driftedAt } = this.#claimOf(node) ?? {};
    const isForAll = settings.maxHold > 0 && settings.driftWait >= settings.maxHold;
    if (!joinedAt || !driftedAt || isForAll) return false;
    return after(later(driftedAt, joinedAt), settings.driftWait) <= after(then, skew);
  }

  #usesOf({ instance }: NodeView): readonly Date[] {
    return this.#karpenter.uses.filter((use) => use.instance === instance).map(({ at }) => at);
  }

  marked(by: Invocation, node: NodeView, holdId: string): void {
    const free = this.#free.get(holdId)?.get(node.name);
    this.#free.get(holdId)?.delete(node.name);
    this.#excused.get(holdId)?.delete(node.name);
    if (!free) return;
    const isUsed = this.#usesOf(node).some((at) => at > free.usedFrom);
    const isNew = node.joinedAt >= after(free.usedFrom, -clocksDiffer);
    if (isNew || by.begunAt <= free.at) return;
    const facts = () => ({ node, free, by: by.name });
    must(isUsed, "a node that was let go is marked again for a use alone", facts);
    must(!this.#hasDrifted(node, by, by.begunAt), "a node let go for its drift stays so", facts);
  }

  /** After each step: what a look reads of NodeClaims, and what it must have done at its end. */
  check(invocation: Invocation, call: string): void {
    if (call === "claims" && invocation.name === "release" && !this.#again.has(invocation))
      this.#again.set(invocation, [...this.#usedAgain()]);
    if (invocation.state === "running") return;
    const again = this.#again.get(invocation) ?? [];
    const notes = this.#notes.get(invocation) ?? new Map<string, Note>();
    this.#again.delete(invocation);
    this.#notes.delete(invocation);
    const { state, late, refused } = invocation;
    const hasLooked = state === "done" && late.length === 0 && refused.length === 0;
    if (!hasLooked || !this.#karpenter.couldRead(invocation)) return;
    for (const { hold, names, overtakenBy } of notes.values()) {
      // What has overtaken it after its last read of the record is still at work.
      if (!overtakenBy || overtakenBy.state === "running") continue;
      const record = [...this.#world.holds.records.values()].find((one) => one.hold?.id === hold.id);
      const bare = this.#world.nodes.all().filter(({ name }) => names.includes(name));
      const isKept = !record || !bare.some((node) => lacksMark(this.#world, record, node, this));
      must(isKept, "a look that a launch has overtaken marks its nodes again", () => ({ record, names }));
    }
    for (const { holdId, name, free } of again) {
      // The same look may have found that only the used nodes of a small burst are held from now on.
      if (this.#world.holds.records.get("cluster")?.hold?.narrowsAt) continue;
      const stays = this.#records.running(holdId) && this.#free.get(holdId)?.get(name) === free;
      must(!stays, "a look marks a node again that is used again", () => ({ holdId, name, free }));
    }
  }

  *#usedAgain() {
    const { settings, nodeClaims, nodes, holds } = this.#world;
    const { hold } = holds.records.get("cluster") ?? {};
    const isRead = nodeClaims.version === "v1" && !nodeClaims.refusedWith;
    if (
      !isRead ||
      settings.scope !== "cluster" ||
      hold?.state !== "held" ||
      hold.narrowsAt ||
      hold.causes.hand
    )
      return;
    for (const [name, free] of this.#free.get(hold.id) ?? []) {
      const node = nodes.get(name);
      const claim = node && this.#claimOf(node);
      if (!claim || claim.driftedAt) continue;
      const isFree = !node.labels[holdLabel] && node.annotations[settings.holdAnnotation] === undefined;
      const latest = after(free.usedFrom, 2 * (mostSkew + wholeSecond));
      if (isFree && this.#usesOf(node).some((at) => at > latest)) yield { holdId: hold.id, name, free };
    }
  }
}
