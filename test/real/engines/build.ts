import {
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { buildLab } from "./build-lab.ts";
import { buildFolder, once } from "./build-once.ts";
import { go, newGo, run } from "./tools.ts";

export { buildFolder };

export const newestKarpenter = "1.15.0";
export const oldestKarpenter = "1.0.8";

const here = import.meta.dirname;
const bin = join(buildFolder, "bin");
/** A change of this file also rebuilds every part. */
const recipe = import.meta.filename;
const goModule = [recipe, ...["go.mod", "go.sum"].map((file) => join(here, "cluster", file))];
const parts = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"];

/** What can be built, named as its stamp file. */
export type Part =
  | "control-plane"
  | "helm"
  | "kubelet"
  | `karpenter-${string}`
  | `lab-${string}`
  | `python-${Python}`;
type Python = "emulator" | "cfn-lint";

export async function buildPart(part: Part): Promise<void> {
  if (part === "control-plane") await buildControlPlane();
  else if (part === "helm") await buildHelm();
  else if (part === "kubelet") await buildKubelet();
  else if (part === "python-emulator") await buildPython("emulator");
  else if (part === "python-cfn-lint") await buildPython("cfn-lint");
  else if (part.startsWith("lab-")) await buildLab(part.replace("lab-", ""));
  else await buildKarpenter(part.replace("karpenter-", ""));
}

/** The path of a program once it is built. */
export const program = (name: string): string => join(bin, name);

/** etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kubectl. */
export async function buildControlPlane(): Promise<void> {
  await once("control-plane", [...goModule, join(here, "cluster/main.go")], async () => {
    const version = (await go(["list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes"])).trim();
    const [, minor = ""] = version.split(".");
    const stamp = Object.entries({ gitVersion: version, gitMajor: "1", gitMinor: minor });
    const flags = stamp.map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
    await compile("control-plane", ".", flags.join(" "));
    for (const part of parts) link("control-plane", part);
  });
}

/** Helm; most of its packages are also kubectl's, and compiled once. */
export async function buildHelm(): Promise<void> {
  await once("helm", goModule, () => compile("helm", "helm.sh/helm/v3/cmd/helm"));
}

/** The fake kubelet of every node; returns the folder with its stages of nodes and pods. */
export async function buildKubelet(): Promise<string> {
  const stages = join(buildFolder, "stages");
  await once("kubelet", goModule, async () => {
    await compile("kubelet", "sigs.k8s.io/kwok/cmd/kwok");
    const folder = await moduleFolder(["list", "-m", "-json", "sigs.k8s.io/kwok"]);
    // Like a real kubelet it repeats its status: sometimes Karpenter 1.0 needs another update to notice a node.
    const files = ["node/fast/node-*.yaml", "node/heartbeat/node-*.yaml", "pod/fast/pod-*.yaml"];
    copyFiles(join(folder, "kustomize/stage"), files, stages);
    delayReadiness(join(stages, "node-initialize.yaml"));
  });
  return stages;
}

/**
 * A real node is not ready at once. Karpenter 1.0 registers a node at the node's next update, and would never do so if the
 * last update came before Karpenter had stored which node it launched.
 */
function delayReadiness(stage: string): void {
  const atOnce = readFileSync(stage, "utf8");
  const later = atOnce.replace(/^ {2}next:$/m, "  delay:\n    durationMilliseconds: 2000\n  next:");
  if (later === atOnce) throw new Error(`${stage} has changed: it has no "next"`);
  writeFileSync(stage, later);
}

/** Karpenter with its kwok provider, version 1.0.8 or later; returns the folder with its CRDs. */
export async function buildKarpenter(version: string): Promise<string> {
  const name = `karpenter-${version}`;
  const crds = join(buildFolder, `crds-${version}`);
  await once(name, [recipe], async () => {
    await install(name, `sigs.k8s.io/karpenter/kwok@v${version}`);
    const folder = await moduleFolder(["mod", "download", "-json", `sigs.k8s.io/karpenter@v${version}`]);
    copyFiles(folder, ["pkg/apis/crds/*.yaml", "kwok/apis/crds/*.yaml"], crds);
  });
  return crds;
}

/** A Python environment with the pinned packages of one requirements file; returns its bin folder. */
export async function buildPython(name: Python): Promise<string> {
  const requirements = join(here, `${name}.requirements.txt`);
  const folder = join(buildFolder, `python-${name}`);
  await once(`python-${name}`, [recipe, requirements], async () => {
    rmSync(folder, { recursive: true, force: true });
    await run("python3", ["-m", "venv", folder]);
    await run(join(folder, "bin/pip"), ["install", "-q", "--require-hashes", "-r", requirements]);
  });
  return join(folder, "bin");
}

const small = ["-trimpath", "-ldflags"];

async function compile(name: string, source: string, flags = ""): Promise<void> {
  // Build under another name and rename, so that a running program is never overwritten.
  const fresh = program(`${name}.new`);
  await go(["build", ...small, `-s -w ${flags}`, "-o", fresh, source]);
  renameSync(fresh, program(name));
}

async function install(name: string, source: string): Promise<void> {
  const folder = join(buildFolder, `go-${name}`);
  await go(["install", ...small, "-s -w", source], { GOBIN: folder, ...newGo });
  renameSync(join(folder, "kwok"), program(name));
  rmSync(folder, { recursive: true });
}

function link(target: string, name: string): void {
  rmSync(program(name), { force: true });
  symlinkSync(target, program(name));
}

async function moduleFolder(args: readonly string[]): Promise<string> {
  const answer: unknown = JSON.parse(await go(args, newGo));
  const folder = typeof answer === "object" && answer !== null ? Reflect.get(answer, "Dir") : undefined;
  if (typeof folder !== "string") throw new Error(`go ${args.join(" ")} returned no folder`);
  return folder;
}

/** Copies files out of the Go module cache, so that the build folder is complete. */
function copyFiles(from: string, patterns: readonly string[], to: string): void {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  for (const file of globSync([...patterns], { cwd: from }))
    cpSync(join(from, file), join(to, basename(file)));
}
