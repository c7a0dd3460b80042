import type { V1Node } from "@kubernetes/client-node";
import { until } from "../engines/processes.ts";
import type { World } from "./world.ts";

/** When Karpenter was first seen to lay hands on a node, and when the node was gone. */
export type Fate = { touchedAt?: number; goneAt?: number };

const isTouched = ({ metadata, spec }: V1Node): boolean =>
  Boolean(metadata?.deletionTimestamp) ||
  Boolean(spec?.taints?.some(({ key }) => key === "karpenter.sh/disrupted"));

/** Looks at all nodes again and again and writes down what becomes of them. */
export class NodeDiary {
  readonly #world: World;
  readonly #fates = new Map<string, Fate>();

  constructor(world: World) {
    this.#world = world;
  }

  of(node: string): Fate {
    return this.#fates.get(node) ?? {};
  }

  /** One look at all nodes. */
  async look(): Promise<void> {
    const present = new Map((await this.#world.nodes()).map((node) => [node.metadata?.name ?? "", node]));
    for (const name of present.keys()) if (!this.#fates.has(name)) this.#fates.set(name, {});
    const now = Date.now();
    for (const [name, fate] of this.#fates) {
      const node = present.get(name);
      if (!node || isTouched(node)) fate.touchedAt ??= now;
      if (!node) fate.goneAt ??= now;
    }
  }

  /** Keeps looking until the condition holds, but no longer than told; never throws for time. */
  async keep(isEnough: () => boolean, within: number): Promise<void> {
    const end = performance.now() + within;
    const isOver = async () => {
      await this.look();
      return isEnough() || performance.now() > end;
    };
    await until("the diary's time to be over", isOver, within + 60_000, 500);
  }
}
