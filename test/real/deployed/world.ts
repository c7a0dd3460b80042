import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { CloudWatchLogsClient, DescribeLogGroupsCommand } from "@aws-sdk/client-cloudwatch-logs";
import { stackName } from "../../../infra/names.ts";
import {
  type AwsBehaviour,
  account,
  allAwsBehaviour,
  Emulator,
  nodeFirst,
  region,
} from "../emulator/emulator.ts";
import { PlainDeployment } from "../emulator/plain-deployment.ts";
import { engineEnvironment } from "../runner/run-folder.ts";
import { DeployedCluster } from "./cluster.ts";

const root = resolve(import.meta.dirname, "../../..");

/** Settings as in `-c NAME=VALUE`. */
type Context = Readonly<Record<string, string>>;
/** `app`: a file instead of our own app. */
type How = Readonly<{ app?: string | undefined; env?: Readonly<Record<string, string>>; cwd?: string }>;

/** Every deployment notifies this topic, which nothing needs to exist for. */
const alarmTopicArn = `arn:aws:sns:${region}:${account}:ops`;

/** An account with the unchanged stack. IAM is enforced except during deployments. */
export class DeployedWorld {
  readonly emulator: Emulator;
  readonly #app: string | undefined;

  private constructor(emulator: Emulator, app?: string) {
    this.emulator = emulator;
    this.#app = app;
  }

  /** `app`: a file to deploy instead of our own app. */
  static async start(
    behaviour: readonly AwsBehaviour[] = allAwsBehaviour,
    app?: string,
  ): Promise<DeployedWorld> {
    const emulator = await Emulator.start(behaviour);
    try {
      const world = new DeployedWorld(emulator, app);
      // In a folder without an app: bootstrap needs the account, not a cluster.
      await world.#cdk(["bootstrap", `aws://${account}/${region}`], {}, { cwd: emulator.folder });
      return world;
    } catch (error) {
      await emulator.stop();
      throw error;
    }
  }

  /** A new cluster with a holder; `settings` replace its defaults. */
  async cluster(name: string, settings: Context = {}, app = this.#app): Promise<DeployedCluster> {
    const plane = await this.#relaxed(() => this.emulator.createCluster(name));
    await this.deploy(name, settings, { app });
    return new DeployedCluster(this.emulator, name, plane);
  }

  async deploy(cluster: string, settings: Context, how: How = {}): Promise<void> {
    const deploy = ["deploy", "--require-approval", "never"];
    await this.#relaxed(() => this.#cdk(deploy, { cluster, alarmTopicArn, ...settings }, how));
  }

  async destroy(cluster: string, settings: Context = {}): Promise<void> {
    await this.#relaxed(() => this.#cdk(["destroy", "--force"], { cluster, ...settings }));
  }

  /** Does what `aws cloudformation continue-update-rollback` does. */
  async continueRollback(cluster: string, skip: readonly string[]): Promise<void> {
    await this.#relaxed(() => new PlainDeployment(this.emulator).continueRollback(stackName(cluster), skip));
  }

  /** The logical ids of all resources of a type. */
  resources(cluster: string, type: string): Promise<readonly string[]> {
    return new PlainDeployment(this.emulator).resources(stackName(cluster), type);
  }

  stackStatus(cluster: string): Promise<string> {
    return new PlainDeployment(this.emulator).status(stackName(cluster));
  }

  deleteFailures(cluster: string): Promise<readonly string[]> {
    return new PlainDeployment(this.emulator).deleteFailures(stackName(cluster));
  }

  /** All log groups of a cluster's holder, whatever made them. */
  async logGroups(cluster: string): Promise<readonly string[]> {
    const client = this.emulator.client(CloudWatchLogsClient);
    const { logGroups = [] } = await client.send(new DescribeLogGroupsCommand({}));
    const names = logGroups.map(({ logGroupName = "" }) => logGroupName);
    return names.filter((name) => name.includes(`${stackName(cluster)}-`));
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

  /** The ordinary CDK CLI with the unchanged app, against the emulator. */
  async #cdk(
    args: readonly string[],
    context: Context,
    { cwd = root, env: more = {}, app: file = this.#app }: How = {},
  ): Promise<void> {
    const { folder, env: aws } = this.emulator;
    const settings = Object.entries(context).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const output = mkdtempSync(join(folder, "cdk-"));
    const cdk = join(root, "node_modules/aws-cdk/bin/cdk");
    const bundled = `node ${join(root, "scripts/bundles.ts")} && node ${file}`;
    const app = file && args[0] !== "bootstrap" ? ["--app", bundled] : [];
    const command = [cdk, ...args, ...settings, ...app, "--output", output, "--ci"];
    const env = { ...engineEnvironment(folder), ...aws, PATH: nodeFirst, CI: "true", ...more };
    try {
      const options = { cwd, env, maxBuffer: 64 * 1024 * 1024 };
      await promisify(execFile)(process.execPath, command, options);
    } catch (error) {
      const { stdout = "", stderr = "" } = Object(error);
      throw new Error(`cdk ${args[0]} failed:\n${stdout}\n${stderr}`, { cause: error });
    } finally {
      rmSync(output, { recursive: true, force: true });
    }
  }
}
