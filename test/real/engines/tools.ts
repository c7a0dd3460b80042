import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

const cluster = join(import.meta.dirname, "cluster");

/** Programs that must be installed, and how to install them. */
const remedies: Readonly<Record<string, string>> = {
  go: "install Go 1.26 or later (https://go.dev/dl) and put it on the PATH",
  python3: "install Python 3.10 or later with its venv module",
  java: "install a Java runtime, version 17 or later",
};

/** Runs a program in the Go module's folder and returns what it printed. */
export async function run(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const options = { cwd: cluster, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
  try {
    return (await promisify(execFile)(command, args, options)).stdout;
  } catch (error) {
    const isMissing = error instanceof Error && Reflect.get(error, "code") === "ENOENT";
    const remedy = remedies[command] ?? "install it and put it on the PATH";
    throw isMissing ? new Error(`${command} was not found: ${remedy}`, { cause: error }) : error;
  }
}

export const go = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> =>
  run("go", args, { CGO_ENABLED: "0", ...env });

/** The newest Karpenter needs this Go; an older Go on the machine downloads it. */
export const newGo = { GOTOOLCHAIN: "go1.26.10" };

/** DynamoDB Local runs on Java. */
export async function requireJava(): Promise<void> {
  await run("java", ["-version"]);
}
