import type { World } from "../../simulator/world.ts";
import type { Command } from "./commands.ts";

/** The calls that fail until they are repaired, and those that are never answered. */
export class Outages {
  readonly #world: World;
  readonly #broken = new Map<string, "fails" | "hangs">();

  constructor(world: World) {
    this.#world = world;
    world.refuses = (call) => this.#stateOf(call) === "fails";
    world.hangs = (call) => this.#stateOf(call) === "hangs";
  }

  begin({ what, which, hangs }: Extract<Command, { do: "break" }>): void {
    const nodes = this.#world.nodes.all();
    const name = nodes[which % Math.max(1, nodes.length)]?.name ?? "none";
    this.#broken.set(what === "node" ? `patch ${name}` : what, hangs ? "hangs" : "fails");
  }

  end(): void {
    this.#broken.clear();
  }

  #stateOf(call: string): "fails" | "hangs" | undefined {
    const isOfCluster = /^(list|claims|pods|budgets|patch|get)/.test(call);
    const isOfHalf = /^patch .*[13579]$/.test(call);
    return (
      this.#broken.get(call) ??
      (isOfHalf ? this.#broken.get("half") : undefined) ??
      (isOfCluster ? this.#broken.get("cluster") : undefined)
    );
  }
}
