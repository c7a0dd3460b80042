import { type AwsBehaviour, allAwsBehaviour, Emulator } from "../emulator/emulator.ts";
import { DeployedCluster } from "./cluster.ts";
import { Cdk, type Context } from "./stack.ts";

/** An account with the unchanged stack. IAM is enforced except during deployments. */
export class DeployedWorld {
  readonly emulator: Emulator;
  readonly #cdk: Cdk;

  private constructor(emulator: Emulator) {
    this.emulator = emulator;
    this.#cdk = new Cdk(emulator);
  }

  static async start(behaviour: readonly AwsBehaviour[] = allAwsBehaviour): Promise<DeployedWorld> {
    const emulator = await Emulator.start(behaviour);
    try {
      const world = new DeployedWorld(emulator);
      await world.#cdk.bootstrap();
      return world;
    } catch (error) {
      await emulator.stop();
      throw error;
    }
  }

  /** A new cluster with a holder; `settings` replace its defaults. */
  async cluster(name: string, settings: Context): Promise<DeployedCluster> {
    const plane = await this.#relaxed(() => this.emulator.createCluster(name));
    await this.deploy(name, settings);
    return new DeployedCluster(this.emulator, name, plane);
  }

  async deploy(cluster: string, settings: Context): Promise<string> {
    return this.#relaxed(() => this.#cdk.deploy({ cluster, ...settings }));
  }

  async destroy(cluster: string): Promise<void> {
    await this.#relaxed(() => this.#cdk.destroy({ cluster }));
  }

  async stop(): Promise<void> {
    await this.emulator.stop();
  }

  async #relaxed<T>(work: () => Promise<T>): Promise<T> {
    await this.emulator.relaxIam();
    try {
      return await work();
    } finally {
      await this.emulator.enforceIam();
    }
  }
}
