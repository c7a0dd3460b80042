import { isHoldId } from "../../../lambda/core/marks/hold-id.ts";
import { holdLabel, markValue, neverHold } from "../../../lambda/core/marks/keys.ts";
import { nodePoolOf } from "../../../lambda/core/scope.ts";
import type { Invocation } from "../../../simulator/invocation.ts";
import type { World } from "../../../simulator/world.ts";
import { AnnotationOwners, changedKeys, type Seen, seenOn } from "./annotation-owners.ts";
import type { LetGoRules } from "./let-go-rules.ts";
import { isCovered } from "./oracle.ts";
import type { RecordRules } from "./record-rules.ts";
import { must } from "./watcher.ts";

type NodeChange = Readonly<{ name: string; before: Seen; now: Seen; facts: () => unknown }>;

/** What our functions may change on a node in one step. */
export class NodeRules {
  readonly #world: World;
  readonly #records: RecordRules;
  readonly #letGo: LetGoRules;
  #seen = new Map<string, Seen>();
  /** Marks set for a hold that had ended, by a function that still runs. */
  readonly #late = new Map<string, Readonly<{ by: Invocation; holdId: string }>>();

  /** The running hold for which a node was last marked. */
  readonly #timely = new Map<string, string>();
  readonly #owners = new AnnotationOwners();
  #step = 0;
  /** In which step each change of our access began, and the annotations that the cluster recorded then. */
  readonly #changes = new Map<Invocation, Readonly<{ step: number; recorded: readonly string[] }>>();

  constructor(world: World, records: RecordRules, letGo: LetGoRules) {
    this.#world = world;
    this.#records = records;
    this.#letGo = letGo;
    records.marksLeft = (holdId) =>
      [...this.#timely].flatMap(([name, id]) => (id === holdId && this.#labelOf(name) === id ? [name] : []));
    this.accept();
  }

  accept(): void {
    const seen = new Map<string, Seen>();
    for (const node of this.#world.nodes.all()) {
      const { name } = node;
      const now = seenOn(node);
      const before = this.#seen.get(name);
      if (!before) this.#owners.found(name, now);
      else if (isDifferent(before, now)) {
        this.#owners.changedByUser(name, before, now);
        this.#letGo.excuse(name);
      }
      seen.set(name, now);
    }
    this.#seen = seen;
  }

  check(invocation: Invocation): void {
    this.#step += 1;
    if (invocation.name === "access" && !this.#changes.has(invocation))
      this.#changes.set(invocation, { step: this.#step, recorded: this.#world.access.annotations });
    for (const node of this.#world.nodes.all()) {
      const { name, pool } = node;
      const now = seenOn(node);
      const before = this.#seen.get(name) ?? now;
      if (!isDifferent(before, now)) continue;
      const facts = () => ({ name, before, now, by: invocation.name });
      must(pool !== undefined, "no node but Karpenter's is touched", facts);
      const isMarked = before.label === undefined && now.label !== undefined;
      must(
        !isMarked || isCovered(invocation.settings, pool),
        "no NodePool that is left out is marked",
        facts,
      );
      must(
        before.label !== neverHold && now.label !== neverHold,
        "a node labelled never is left alone",
        facts,
      );
      const change = { name, before, now, facts };
      this.#checkValues(invocation, change);
      if (before.label !== now.label) {
        this.#checkLabel(invocation, pool, change);
        if (now.label !== undefined) this.#noteMark(invocation, name, now.label);
        if (now.label !== undefined) this.#letGo.marked(invocation, node, now.label);
        else if (invocation.name === "access") this.#letGo.excuse(name);
        else if (this.#records.running(before.label ?? ""))
          this.#letGo.unmarked(invocation, node, before.label ?? "");
      }
      this.#seen.set(name, now);
    }
    if (invocation.state !== "running") this.#checkLookBack(invocation);
    if (invocation.state === "done") this.#checkFormer(invocation);
  }

  /** What was marked under a former annotation before the change began has none of ours under it. */
  #checkFormer(by: Invocation): void {
    const begun = this.#changes.get(by);
    if (!begun) return;
    const isFormer = (key: string) => key !== by.settings.holdAnnotation && begun.recorded.includes(key);
    for (const { name } of this.#world.nodes.all()) {
      const former = [...this.#owners.ofUs(name)].filter(([key, step]) => step < begun.step && isFormer(key));
      must(former.length === 0, "a change of the annotation removes every former mark", () => ({
        name,
        former,
      }));
    }
  }

  #noteMark(by: Invocation, name: string, holdId: string): void {
    const isTimely = this.#records.running(holdId);
    if (isTimely) this.#timely.set(name, holdId);
    else this.#timely.delete(name);
    if (isTimely) this.#late.delete(name);
    else this.#late.set(name, { by, holdId });
  }

  /** A function that marks for an ended hold must remove these marks itself, and not leave them to the sweep. */
  #checkLookBack(by: Invocation): void {
    // A sweep has a share of its time for each scope; what it leaves is the next one's.
    const isLate = by.late.length > 0 || this.#world.time.getTime() + by.skew >= by.deadline.getTime();
    for (const [name, late] of this.#late) {
      if (late.by !== by) continue;
      this.#late.delete(name);
      if (by.wasHindered || isLate || by.state !== "done") continue;
      const stays = this.#labelOf(name) === late.holdId;
      must(!stays, "a function that marked for an ended hold removes its marks", () => ({
        name,
        late: late.holdId,
      }));
    }
  }

  #labelOf(name: string): string | undefined {
    return this.#world.nodes.get(name)?.labels[holdLabel];
  }

  atRest(): void {
    for (const { name, labels } of this.#world.nodes.all()) {
      const label = labels[holdLabel];
      const ours = [...this.#owners.ofUs(name).keys()];
      const isFree = !isHoldId(label) && ours.length === 0;
      must(isFree, "every mark comes off", () => ({ name, label, ours }));
    }
  }

  #checkValues(by: Invocation, { name, before, now, facts }: NodeChange): void {
    const { holdAnnotation: own } = by.settings;
    const changed = changedKeys(before, now);
    for (const key of changed.filter((key) => now.values[key] !== undefined)) {
      must(before.values[key] === undefined, "a user's annotation is never changed", facts);
      must(key === own, "no function sets another annotation than its own", facts);
      must(
        now.values[key] === markValue && now.label !== undefined,
        "a mark is label and annotation together",
        facts,
      );
      this.#owners.set(name, key, this.#step);
    }
    const removed = changed.filter((key) => now.values[key] === undefined);
    const areOurs = removed.every((key) => this.#owners.mayRemove(name, key, before, own));
    must(areOurs, "a user's annotation is never removed", facts);
    for (const key of removed) this.#owners.removed(name, key);
    if (removed.length === 0) return;
    const isHeldByUs = this.#owners.ofUs(name).size > 0;
    must(isHeldByUs === (now.label !== undefined), "a mark comes off whole", facts);
  }

  #checkLabel(by: Invocation, pool: string, { name, before, now, facts }: NodeChange): void {
    if (now.label === undefined) {
      const stays = [...this.#owners.ofUs(name).keys()];
      must(stays.length === 0, "no annotation of ours stays without its label", facts);
      return;
    }
    const isWhole = Object.values(now.values).includes(markValue);
    must(isWhole, "a mark is label and annotation together", facts);
    if (before.label === undefined)
      must(
        before.values[by.settings.holdAnnotation] === undefined,
        "a user's annotation is never adopted",
        facts,
      );
    must(!isHoldId(before.label) || now.label > before.label, "the younger mark wins", facts);
    const life = this.#records.lives.get(now.label);
    must(life !== undefined, "nothing is marked for a hold that was never recorded", facts);
    const ofScope = nodePoolOf(life.scope);
    must(ofScope === undefined || ofScope === pool, "a hold marks only the nodes of its scope", facts);
  }
}

const isDifferent = (before: Seen, now: Seen): boolean =>
  before !== now && (before.label !== now.label || changedKeys(before, now).length > 0);
