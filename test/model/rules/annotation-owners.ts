import { isHoldId } from "../../../lambda/core/marks/hold-id.ts";
import { holdLabel, markValue } from "../../../lambda/core/marks/keys.ts";
import type { NodeView } from "../../../simulator/cluster-view.ts";
import { annotations } from "../commands.ts";

/** Our label and the annotations of one node. */
export type Seen = Readonly<{ label: string | undefined; values: Readonly<Record<string, string>> }>;

const seen = new WeakMap<NodeView, Seen>();

export function seenOn(node: NodeView): Seen {
  const known = seen.get(node);
  if (known) return known;
  const own = Object.entries(node.annotations).filter(([key]) => annotations.includes(key));
  const found = { label: node.labels[holdLabel], values: Object.fromEntries(own) };
  seen.set(node, found);
  return found;
}

/** The annotations that differ. */
export const changedKeys = (before: Seen, now: Seen): readonly string[] =>
  annotations.filter((key) => before.values[key] !== now.values[key]);

/** Which annotations our functions have set, and no user has changed since. */
export class AnnotationOwners {
  /** By node, each annotation of ours with the step in which it was set. */
  readonly #ours = new Map<string, Map<string, number>>();
  /** By node, annotations of ours whose label a user removed or changed. */
  readonly #left = new Map<string, Set<string>>();

  ofUs(node: string): ReadonlyMap<string, number> {
    return this.#ours.get(node) ?? new Map();
  }

  set(node: string, key: string, step: number): void {
    this.#ours.set(node, new Map(this.ofUs(node)).set(key, step));
  }

  removed(node: string, key: string): void {
    this.#ours.get(node)?.delete(key);
    this.#left.get(node)?.delete(key);
  }

  /** Whether a function that uses this annotation may remove that one. */
  mayRemove(node: string, key: string, { label, values }: Seen, own: string): boolean {
    if (this.ofUs(node).has(key) || this.#left.get(node)?.has(key)) return true;
    // What a user set again on a held node counts as ours where nothing distinguishes it from a mark.
    return this.ofUs(node).size === 0 && key === own && isHoldId(label) && values[key] === markValue;
  }

  /** A mark from before the run. */
  found(node: string, { label, values }: Seen): void {
    if (isHoldId(label)) for (const key of Object.keys(values)) this.set(node, key, 0);
  }

  changedByUser(node: string, before: Seen, now: Seen): void {
    if (before.label !== now.label) {
      this.#left.set(node, new Set([...(this.#left.get(node) ?? []), ...this.ofUs(node).keys()]));
      this.#ours.delete(node);
    }
    for (const key of changedKeys(before, now)) this.removed(node, key);
  }
}
