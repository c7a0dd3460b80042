import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { manifestYaml } from "../../../lambda/cluster-access/manifest-yaml.ts";
import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import { HolderProcess } from "../../support/holder-process.ts";
import type { World } from "./world.ts";

/** The command `run` on a real cluster, as a user with only the rights of its manifest. */
export class HolderRun {
  readonly #world: World;
  readonly #flags: readonly string[];
  #process: HolderProcess | undefined;

  private constructor(world: World, flags: readonly string[]) {
    this.#world = world;
    this.#flags = flags;
  }

  /** Applies the manifest and starts `run` with a new record. */
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

  /** The running process, or the last one. */
  get process(): HolderProcess {
    if (!this.#process) throw new Error("the holder was never started");
    return this.#process;
  }

  /** When the hold expires, by the process's last decision. */
  expiresAt(): number {
    const decided = this.process
      .logged("launch decided")
      .map(({ expiresAt }) => Date.parse(String(expiresAt)));
    return Math.max(0, ...decided.filter((at) => !Number.isNaN(at)));
  }

  /** Starts it with its existing record; it is running when this returns. */
  async startAgain(): Promise<void> {
    const kubeconfig = this.#world.plane.kubeconfig("holder");
    this.#process = new HolderProcess(["--kubeconfig", kubeconfig, ...this.#flags]);
    await this.#process.until("the holder is at work", 60_000);
  }

  /** Kills it and starts it again. */
  async crash(): Promise<void> {
    await this.process.kill();
    await this.startAgain();
  }

  async stop(): Promise<void> {
    await this.#process?.stop();
  }
}
