import type { Instance, Launch, Launches } from "../../lambda/core/ports.ts";
import type { NodeWatch } from "./node-watch.ts";

/** Without a cloud to ask, a node's appearance is its launch. */
export class WatchedLaunches implements Launches {
  readonly #watch: NodeWatch;
  readonly #poolLabel: string;

  constructor(watch: NodeWatch, poolLabel: string) {
    this.#watch = watch;
    this.#poolLabel = poolLabel;
  }

  async find(instances: readonly string[]): Promise<ReadonlyMap<string, Instance>> {
    const wanted = new Set(instances);
    const found = this.#all().filter(({ instance }) => wanted.has(instance));
    return new Map(found.map(({ instance: id, ...launch }) => [id, { id, ...launch }]));
  }

  async since(moment: Date): Promise<readonly Launch[]> {
    return this.#all().filter(({ launchedAt }) => launchedAt >= moment);
  }

  #all(): readonly Launch[] {
    return [...this.#watch.nodes.values()].map(({ instance, createdAt, labels }) => ({
      instance,
      launchedAt: createdAt,
      nodePool: labels?.[this.#poolLabel] ?? "",
    }));
  }
}
