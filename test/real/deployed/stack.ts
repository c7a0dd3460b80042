import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { account, type Emulator, nodeFirst, region } from "../emulator/emulator.ts";
import { engineEnvironment } from "../runner/run-folder.ts";

const root = resolve(import.meta.dirname, "../../..");

/** Settings as in `-c NAME=VALUE`. */
export type Context = Readonly<Record<string, string>>;

/** The ordinary CDK CLI, against the emulator. */
export class Cdk {
  readonly #emulator: Emulator;

  constructor(emulator: Emulator) {
    this.#emulator = emulator;
  }

  async bootstrap(): Promise<void> {
    // In a folder without an app: bootstrap needs the account, not a cluster.
    await this.#run(["bootstrap", `aws://${account}/${region}`], {}, this.#emulator.folder);
  }

  /** `cdk deploy` of the unchanged app. */
  async deploy(context: Context): Promise<string> {
    return this.#run(["deploy", "--require-approval", "never"], context);
  }

  async destroy(context: Context): Promise<string> {
    return this.#run(["destroy", "--force"], context);
  }

  async #run(args: readonly string[], context: Context, cwd = root): Promise<string> {
    const settings = Object.entries(context).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const output = mkdtempSync(join(this.#emulator.folder, "cdk-"));
    const command = [
      join(root, "node_modules/aws-cdk/bin/cdk"),
      ...args,
      ...settings,
      "--output",
      output,
      "--ci",
    ];
    try {
      const { folder, env: aws } = this.#emulator;
      const env = { ...engineEnvironment(folder), ...aws, PATH: nodeFirst, CI: "true" };
      const options = { cwd, env, maxBuffer: 64 * 1024 * 1024 };
      const { stdout, stderr } = await promisify(execFile)(process.execPath, command, options);
      return stdout + stderr;
    } catch (error) {
      const output =
        error instanceof Error ? `${Reflect.get(error, "stdout")}\n${Reflect.get(error, "stderr")}` : "";
      throw new Error(`cdk ${args[0]} failed:\n${output}`, { cause: error });
    } finally {
      rmSync(output, { recursive: true, force: true });
    }
  }
}
