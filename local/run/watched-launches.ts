import type { Duration } from "../../lambda/core/duration.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import type { FollowUp, FollowUps, Instance, Launch, Launches } from "../../lambda/core/ports.ts";
import type { NodeWatch, WatchedNode } from "./node-watch.ts";

/** The label of a node's NodePool, and the annotation that shows whether it is held. */
type Keys = Readonly<{ poolLabel: string; annotation: string }>;

/** Without a cloud to ask, a node's appearance is its launch. */
export class WatchedLaunches implements Launches {
  readonly #watch: NodeWatch;
  readonly #keys: Keys;

  constructor(watch: NodeWatch, keys: Keys) {
    this.#watch = watch;
    this.#keys = keys;
  }

  async find(instances: readonly string[]): Promise<ReadonlyMap<string, Instance>> {
    const wanted = new Set(instances);
    const nodes = [...this.#watch.nodes.values()].filter(({ instance }) => wanted.has(instance));
    return new Map(nodes.map((node) => [node.instance, this.#instanceOf(node)]));
  }

  async since(moment: Date): Promise<readonly Launch[]> {
    const young = [...this.#watch.nodes.values()].filter(({ createdAt }) => createdAt >= moment);
    return young.map((node) => ({
      instance: node.instance,
      launchedAt: node.createdAt,
      nodePool: this.#poolOf(node),
    }));
  }

  /**
   * Awaited nodes exist already: their first marking is at once, and they are awaited as long as they exist and carry no
   * mark. What was tried before is repeated when the core says, because the API server may have asked for time.
   */
  withoutDelay(queue: FollowUps): FollowUps {
    const enqueue = async (followUp: FollowUp, delay: Duration): Promise<void> => {
      if (followUp.kind !== "pendingNodes") return queue.enqueue(followUp, delay);
      if (followUp.attempt === 0) return queue.enqueue(followUp, 0);
      const free = [...this.#watch.nodes.values()].filter((node) => this.#isFree(node));
      const waiting = new Set(free.map(({ instance }) => instance));
      const awaited = followUp.awaited.filter(({ instance }) => waiting.has(instance));
      await queue.enqueue({ ...followUp, awaited }, delay);
    };
    return { enqueue };
  }

  #instanceOf(node: WatchedNode): Instance {
    return { id: node.instance, launchedAt: node.createdAt, nodePool: this.#poolOf(node) };
  }

  #poolOf(node: WatchedNode): string {
    return node.labels?.[this.#keys.poolLabel] ?? "";
  }

  #isFree(node: WatchedNode): boolean {
    return node.labels?.[holdLabel] === undefined && node.annotations?.[this.#keys.annotation] === undefined;
  }
}
