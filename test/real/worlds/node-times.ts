import type { V1Node } from "@kubernetes/client-node";
import { until } from "../engines/processes.ts";
import type { World } from "./world.ts";

/** When Karpenter started to disrupt a node, and when the node was gone. */
export type Times = { touchedAt?: number; goneAt?: number };

const isTouched = ({ metadata, spec }: V1Node): boolean =>
  Boolean(metadata?.deletionTimestamp) ||
  Boolean(spec?.taints?.some(({ key }) => key === "karpenter.sh/disrupted"));

/** Polls all nodes and records these times. */
export class NodeTimes {
  readonly #world: World;
  readonly #times = new Map<string, Times>();

  constructor(world: World) {
    this.#world = world;
  }

  of(node: string): Times {
    return this.#times.get(node) ?? {};
  }

  /** Reads all nodes once. */
  async poll(): Promise<void> {
    const present = new Map((await this.#world.nodes()).map((node) => [node.metadata?.name ?? "", node]));
    for (const name of present.keys()) if (!this.#times.has(name)) this.#times.set(name, {});
    const now = Date.now();
    for (const [name, times] of this.#times) {
      const node = present.get(name);
      if (!node || isTouched(node)) times.touchedAt ??= now;
      if (!node) times.goneAt ??= now;
    }
  }

  /** Polls until the condition is true or the time is over; a timeout is no error. */
  async watchUntil(isEnough: () => boolean, within: number): Promise<void> {
    const end = performance.now() + within;
    const isOver = async () => {
      await this.poll();
      return isEnough() || performance.now() > end;
    };
    await until("the end of the poll", isOver, within + 60_000, 500);
  }
}
