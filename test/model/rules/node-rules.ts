import { after } from "../../../lambda/core/duration.ts";
import { isHoldId } from "../../../lambda/core/marks/hold-id.ts";
import { holdLabel } from "../../../lambda/core/marks/keys.ts";
import type { NodeView } from "../../../simulator/cluster-view.ts";
import type { Invocation } from "../../../simulator/invocation.ts";
import type { World } from "../../../simulator/world.ts";
import type { Karpenter } from "../karpenter.ts";
import { appliedKey } from "../users.ts";
import type { HoldRules } from "./hold-rules.ts";
import { must } from "./must.ts";
import { isCovered, isWithin, requestsOf, scopeFor } from "./oracle.ts";
import { mayGo } from "./pays-rules.ts";
import type { Records, Written } from "./records.ts";

/** Our label and annotation on a node, and whether a user's tool applies the annotation. */
type Seen = Readonly<{ label: string | undefined; value: string | undefined; applied: string | undefined }>;
type Change = Readonly<{ by: Invocation; node: NodeView; before: Seen; now: Seen; facts: () => unknown }>;
type Facts = Readonly<{ world: World; karpenter: Karpenter; records: Records; holds: HoldRules }>;

/** What our functions may change on a node in one step. */
export class NodeRules {
  readonly #facts: Facts;
  #seen = new Map<string, Seen>();
  /** The nodes whose annotation one of our functions set, and no user has changed since. */
  readonly #ours = new Set<string>();
  /** The marks that were there when an invocation began, and ever since. */
  readonly #begun = new WeakMap<Invocation, Map<string, string>>();

  constructor(facts: Facts) {
    this.#facts = facts;
    facts.holds.marksLeft = ({ by }: Written, holdId) => this.#marksLeft(by, holdId);
    this.accept();
  }

  /** Changes by users, and by time, since the last look. */
  accept(): void {
    const seen = new Map<string, Seen>();
    for (const node of this.#facts.world.nodes.all()) {
      const now = this.#seenOn(node);
      const before = this.#seen.get(node.name);
      // One that joined while a function was at work is marked by it; a user may have changed the annotation since, or applied it.
      const isMark = isHoldId(now.label) && now.value === "true" && now.applied === undefined;
      if (!before && isMark) this.#ours.add(node.name);
      if (before && isDifferent(before, now)) this.#ours.delete(node.name);
      if (before && before.label !== now.label) this.#changed(node.name);
      seen.set(node.name, now);
    }
    this.#seen = seen;
  }

  begun(invocation: Invocation): void {
    const labels = [...this.#seen].flatMap(([name, { label }]) =>
      isHoldId(label) ? [[name, label] as const] : [],
    );
    this.#begun.set(invocation, new Map(labels));
  }

  look(by: Invocation, call: string): void {
    if (!call.startsWith("patch ")) return;
    const node = this.#facts.world.nodes.get(call.slice("patch ".length));
    if (!node) return;
    const now = this.#seenOn(node);
    const before = this.#seen.get(node.name) ?? now;
    if (!isDifferent(before, now)) return;
    const facts = () => ({ node: node.name, before, now, by: by.name });
    const change = { by, node, before, now, facts };
    must(isHoldId(before.label) || before.label === undefined, "a user's label is never changed", facts);
    if (now.label === undefined) this.#checkRelease(change);
    else this.#checkMark(change, now.label);
    this.#changed(node.name);
    this.#seen.set(node.name, now);
  }

  #changed(name: string): void {
    for (const running of this.#facts.world.running) this.#begun.get(running)?.delete(name);
  }

  atRest(): void {
    for (const node of this.#facts.world.nodes.all()) {
      const { label } = this.#seenOn(node);
      const isFree = !isHoldId(label) && !this.#ours.has(node.name);
      must(isFree, "every mark is removed in the end", () => ({ node: node.name, label }));
    }
  }

  #checkRelease({ by, node, before, now, facts }: Change): void {
    const { holds } = this.#facts;
    const { name, pool } = node;
    const { label = "" } = before;
    must(now.value === before.value || this.#ours.has(name), "a user's annotation is never removed", facts);
    must(now.value === undefined || !this.#ours.has(name), "a mark is removed as a whole", facts);
    const isMeant =
      by.settings.mode === "observe" || !isCovered(by.settings, pool) || this.#mayDrift(by, node);
    // Where a user has changed the annotation, the node is not held by us: an older hold's label is all that goes.
    const isTheirs = before.value !== undefined && before.value !== "true";
    const isHeld = !isMeant && !isTheirs && holds.isRunning(label) && !holds.isOfOldScope(label, by.settings);
    must(!isHeld || mayGo(this.#facts, by, node), "no node is released while it is held", facts);
    if (isHeld) this.#facts.karpenter.letGo.set(name, this.#facts.world.time);
    this.#ours.delete(name);
  }

  #checkMark({ by, node, before, now, facts }: Change, holdId: string): void {
    const { holds } = this.#facts;
    const { settings } = by;
    const { name, pool } = node;
    must(isCovered(settings, pool), "no node but Karpenter's is marked, and none that is left out", facts);
    must(settings.mode === "hold", "nothing is marked while the holder observes", facts);
    must(now.value === "true", "a mark is label and annotation together", facts);
    this.#facts.karpenter.letGo.delete(name);
    const isAdopted = isHoldId(before.label) && before.value === "true";
    must(before.value === undefined || isAdopted, "a user's annotation is never changed", facts);
    must(before.label === undefined || holdId > before.label, "the younger mark wins", facts);
    const life = holds.lives.get(holdId);
    must(life !== undefined, "nothing is marked for a hold that was never recorded", facts);
    must(isWithin(life.scope, pool), "a hold marks only the nodes of its scope", facts);
    const { records } = this.#facts;
    const wasOn = records.since(by, life.scope).some(({ hold }) => hold?.id === holdId && !hold.ended);
    must(wasOn || life.isLost, "nothing is marked for a hold that has ended", facts);
    must(!this.#mustDrift(by, node), "launches mark no drifted node", facts);
    // The annotation that a user set again on a marked node stays theirs.
    if (before.value === undefined) this.#ours.add(name);
  }

  /** Whether a function had to see that a node is drifted, and that nobody asks for a hold of its scope. */
  #mustDrift(by: Invocation, { instance, pool = "" }: NodeView): boolean {
    const { karpenter } = this.#facts;
    const at = karpenter.driftedAt(instance);
    const isRead = karpenter.isReadable && karpenter.isUnchanged(by);
    const failed = [...by.refused, ...by.late];
    if (!at || !isRead || by.wasDisturbed || failed.includes("claims")) return false;
    const isLong = after(at, by.settings.driftWait) <= after(by.begunAt, by.skew);
    return isLong && !this.#isRequested(by, pool, "some");
  }

  /** Whether a function may have released a node because it is drifted. */
  #mayDrift(by: Invocation, { instance, pool = "" }: NodeView): boolean {
    const { karpenter, world } = this.#facts;
    const at = karpenter.driftedAt(instance);
    const isLong = at && after(at, by.settings.driftWait) <= after(world.time, by.skew);
    return (isLong || !karpenter.isUnchanged(by)) && !this.#isRequested(by, pool, "every");
  }

  /** Whether a request was on since a function began: at some time, or all the time. */
  #isRequested(by: Invocation, pool: string, when: "some" | "every"): boolean {
    const { records, world } = this.#facts;
    const now = after(when === "some" ? by.begunAt : world.time, by.skew);
    return records
      .knownSince(by, scopeFor(by.settings, pool))
      [when]((known) => requestsOf(known).some(({ until }) => until > now));
  }

  #marksLeft(by: Invocation, holdId: string): readonly string[] {
    return [...(this.#begun.get(by) ?? [])].flatMap(([name, label]) => {
      const node = this.#facts.world.nodes.get(name);
      return label === holdId && isCovered(by.settings, node?.pool) ? [name] : [];
    });
  }

  #seenOn({ labels, annotations }: NodeView): Seen {
    const { holdAnnotation } = this.#facts.world.settings;
    return {
      label: labels[holdLabel],
      value: annotations[holdAnnotation],
      applied: annotations[appliedKey],
    };
  }
}

const isDifferent = (before: Seen, now: Seen): boolean =>
  before.label !== now.label || before.value !== now.value || before.applied !== now.applied;
