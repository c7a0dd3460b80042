import type { Instance, Launch, Launches } from "../../lambda/core/ports.ts";
import { type Hooks, hooked } from "./hooks.ts";

/** A cloud's instances in memory. */
export class MemoryLaunches implements Launches {
  readonly instances = new Map<string, Instance>();
  /** Launched, but the cloud does not know of it yet. */
  readonly unknownYet = new Set<string>();
  /** Terminated: still found by name, no longer told as a launch. */
  readonly gone = new Set<string>();
  /** May be changed at any time. */
  hooks: Hooks;

  constructor(hooks: Hooks = {}) {
    this.hooks = hooks;
  }

  /** Without a NodePool it is somebody else's instance. */
  add(id: string, launchedAt: Date, nodePool?: string): Instance {
    const instance: Instance = { id, launchedAt, ...(nodePool !== undefined && { nodePool }) };
    this.instances.set(id, instance);
    return instance;
  }

  find(instances: readonly string[]): Promise<ReadonlyMap<string, Instance>> {
    return hooked(this.hooks, "find", () => {
      const known = instances.flatMap((id) => this.instances.get(id) ?? []);
      return new Map(known.filter(({ id }) => !this.unknownYet.has(id)).map((one) => [one.id, one]));
    });
  }

  since(moment: Date): Promise<readonly Launch[]> {
    return hooked(this.hooks, "since", () =>
      [...this.instances.values()].flatMap(({ id, launchedAt, nodePool }) => {
        if (nodePool === undefined || launchedAt < moment) return [];
        if (this.unknownYet.has(id) || this.gone.has(id)) return [];
        return [{ instance: id, launchedAt, nodePool }];
      }),
    );
  }
}
