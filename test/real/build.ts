import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";

const here = import.meta.dirname;
const module = join(here, "cluster");

/** Everything that is built goes below this ignored folder. */
export const buildFolder = process.env.KNH_BUILD ?? resolve(here, "../../build");
const bin = join(buildFolder, "bin");

export const newestKarpenter = "1.14.1";
export const oldestKarpenter = "1.0.8";

/** The path of a program once it is built. */
export const program = (name: string): string => join(bin, name);

const say = (line: string) => process.stderr.write(`${line}\n`);

/** etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kubectl. */
export async function buildControlPlane(): Promise<void> {
  await once("control-plane", ["go.mod", "go.sum", "main.go"], async () => {
    const version = (await go(["list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes"])).trim();
    const [, minor = ""] = version.split(".");
    const stamp = Object.entries({ gitVersion: version, gitMajor: "1", gitMinor: minor });
    const flags = stamp.map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`).join(" ");
    await go(["build", "-trimpath", "-ldflags", `-s -w ${flags}`, "-o", program("control-plane"), "."]);
    for (const name of ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"]) {
      rmSync(program(name), { force: true });
      symlinkSync("control-plane", program(name));
    }
  });
}

/** The fake kubelet: gives every node of Karpenter's kwok provider a heartbeat and its pods a life. */
export async function buildKubelet(): Promise<void> {
  await once("kubelet", ["go.mod", "go.sum"], async () => {
    await go([
      "build",
      "-trimpath",
      "-ldflags",
      "-s -w",
      "-o",
      program("kubelet"),
      "sigs.k8s.io/kwok/cmd/kwok",
    ]);
  });
}

/** Karpenter with its kwok provider, in any version from 1.0.8 on. */
export async function buildKarpenter(version: string): Promise<void> {
  const name = `karpenter-${version}`;
  if (version === newestKarpenter) {
    await once(name, ["go.mod", "go.sum"], async () => {
      await go([
        "build",
        "-trimpath",
        "-ldflags",
        "-s -w",
        "-o",
        program(name),
        "sigs.k8s.io/karpenter/kwok",
      ]);
    });
    return;
  }
  await once(name, [], async () => {
    const folder = join(buildFolder, `go-${version}`);
    mkdirSync(folder, { recursive: true });
    await go(["install", "-trimpath", "-ldflags", "-s -w", `sigs.k8s.io/karpenter/kwok@v${version}`], {
      GOBIN: folder,
    });
    rmSync(program(name), { force: true });
    symlinkSync(join(folder, "kwok"), program(name));
  });
}

/** A Python environment with the pinned packages of one requirements file. */
export async function buildPython(name: "emulator" | "cfn-lint"): Promise<string> {
  const requirements = join(here, `${name}.requirements.txt`);
  const folder = join(buildFolder, `python-${name}`);
  await once(`python-${name}`, [`../${name}.requirements.txt`], async () => {
    rmSync(folder, { recursive: true, force: true });
    await run("python3", ["-m", "venv", folder], "Python 3.10 or later with venv");
    await run(
      join(folder, "bin/pip"),
      ["install", "-q", "--require-hashes", "-r", requirements],
      "a Python package index",
    );
  });
  return join(folder, "bin");
}

/** Where the Go modules lie whose files (CRDs, stages) we apply. */
export async function moduleFolder(path: string, version?: string): Promise<string> {
  if (!version) return (await go(["list", "-m", "-f", "{{.Dir}}", path])).trim();
  const told: unknown = JSON.parse(await go(["mod", "download", "-json", `${path}@v${version}`]));
  const folder = typeof told === "object" && told !== null ? Reflect.get(told, "Dir") : undefined;
  if (typeof folder !== "string") throw new Error(`go told no folder for ${path}@v${version}`);
  return folder;
}

/** Builds unless the same inputs were built before; says what it does and how long it took. */
async function once(name: string, inputs: readonly string[], build: () => Promise<void>): Promise<void> {
  const hash = createHash("sha256").update(process.arch);
  for (const input of inputs) hash.update(readFileSync(join(module, input)));
  const stamp = join(buildFolder, "stamps", name);
  const wanted = hash.digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  mkdirSync(bin, { recursive: true });
  mkdirSync(dirname(stamp), { recursive: true });
  const began = performance.now();
  const elapsed = () => `${Math.round((performance.now() - began) / 1000)} s`;
  say(`building ${name} (once; minutes with a cold cache) …`);
  const tick = setInterval(() => say(`  still building ${name}: ${elapsed()}`), 30_000);
  try {
    await build();
  } finally {
    clearInterval(tick);
  }
  writeFileSync(stamp, wanted);
  say(`  built ${name} in ${elapsed()}`);
}

const go = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  run("go", args, "Go 1.26 or later", { CGO_ENABLED: "0", ...env });

async function run(
  command: string,
  args: readonly string[],
  needs: string,
  env: Readonly<Record<string, string>> = {},
) {
  try {
    const options = { cwd: module, env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
    return (await promisify(execFile)(command, args, options)).stdout;
  } catch (error) {
    const isMissing = error instanceof Error && Reflect.get(error, "code") === "ENOENT";
    if (isMissing)
      throw new Error(`${command} was not found: install ${needs} and try again`, { cause: error });
    throw error;
  }
}
