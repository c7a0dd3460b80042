import { holdLabel } from "../../lambda/core/marks/keys.ts";
import type { Clock } from "../../lambda/core/ports.ts";
import { parseNode } from "../../lambda/kubernetes/node-objects.ts";
import type { FakeCluster } from "../fake-kubernetes/fake-cluster.ts";

/** What the API server had written on a node from a moment on. */
export type Sight = Readonly<{ at: Date; annotation: string | undefined; holdId: string | undefined }>;

/** Records every version of every node. */
export class Observer {
  readonly #sights = new Map<string, Sight[]>();

  constructor(cluster: FakeCluster, annotation: string, clock: Clock) {
    cluster.onChange(({ node }) => {
      const { name, labels, annotations } = parseNode(node);
      const sight = { at: clock.now(), annotation: annotations?.[annotation], holdId: labels?.[holdLabel] };
      this.#sights.set(name, [...(this.#sights.get(name) ?? []), sight]);
    });
  }

  /** Everything that was ever written on a node. */
  of(node: string): readonly Sight[] {
    return this.#sights.get(node) ?? [];
  }

  /** What was written on a node at that moment; undefined before it joined. */
  at(node: string, moment: Date): Sight | undefined {
    return this.of(node).findLast((sight) => sight.at <= moment);
  }

  /** Since when a node carried its annotation without a break, looking back from that moment. */
  heldSince(node: string, moment: Date): Date | undefined {
    const before = this.of(node).filter((sight) => sight.at <= moment);
    const gap = before.findLastIndex((sight) => sight.annotation !== "true");
    return before[gap + 1]?.at;
  }
}
