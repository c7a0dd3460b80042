import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { manifestYaml } from "../../../lambda/cluster-access/manifest-yaml.ts";
import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import { HolderProcess } from "../../support/holder-process.ts";
import type { World } from "./world.ts";

/** The command `run` on a real cluster, as a user with no more rights than its manifest gives. */
export class HolderRun {
  readonly #world: World;
  readonly #flags: readonly string[];
  #present: HolderProcess | undefined;

  private constructor(world: World, flags: readonly string[]) {
    this.#world = world;
    this.#flags = flags;
  }

  /** Gives it its rights and starts it with a record of its own. */
  static async start(world: World, name: string, ...flags: string[]): Promise<HolderRun> {
    const { folder } = world.plane;
    const rights = join(folder, "rights.yaml");
    writeFileSync(rights, manifestYaml([Karpenter.v1.annotation], "run"));
    await world.plane.kubectl(["apply", "-f", rights]);
    const data = ["--data", join(folder, `record-of-${name}`)];
    const run = new HolderRun(world, [...data, "--cluster", name, ...flags]);
    await run.startAgain();
    return run;
  }

  /** The process that is at work now, or was last. */
  get present(): HolderProcess {
    if (!this.#present) throw new Error("the holder was never started");
    return this.#present;
  }

  /** When the hold is over, as the process that is at work now has last decided. */
  expiresAt(): number {
    const decided = this.present
      .logged("launch decided")
      .map(({ expiresAt }) => Date.parse(String(expiresAt)));
    return Math.max(0, ...decided.filter((at) => !Number.isNaN(at)));
  }

  /** Starts it on the record it had; ready when it is at work. */
  async startAgain(): Promise<void> {
    const kubeconfig = this.#world.plane.kubeconfig("holder");
    this.#present = new HolderProcess(["--kubeconfig", kubeconfig, ...this.#flags]);
    await this.#present.until("the holder is at work", 60_000);
  }

  /** Ends it with -9 and starts it anew. */
  async crash(): Promise<void> {
    await this.present.kill();
    await this.startAgain();
  }

  async stop(): Promise<void> {
    await this.#present?.stop();
  }
}
