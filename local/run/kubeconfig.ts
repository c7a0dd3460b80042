import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { KubeConfig, type User } from "@kubernetes/client-node";
import { load, YAMLException } from "js-yaml";
import * as v from "valibot";
import { BadInputError } from "../../lambda/core/errors.ts";
import { fileProblem } from "../file-problem.ts";
import { problemsWith } from "./kubeconfig-problems.ts";

/** Files, and which of their contexts to use; the current one unless given. */
export type KubeconfigChoice = Readonly<{ paths: readonly string[]; context?: string | undefined }>;

const largest = 16 * 1024 * 1024;

/** Reads kubeconfigs as kubectl does: what two files name is taken from the first. A problem never shows a secret. */
export function readKubeconfig({ paths, context }: KubeconfigChoice): KubeConfig {
  const files = paths.map(readFile);
  const config = new KubeConfig();
  config.loadFromOptions({
    contexts: files.flatMap((file) => file.config.getContexts()),
    clusters: files.flatMap((file) => file.config.getClusters()),
    users: files.flatMap(usersIn),
    currentContext: context ?? files.map((file) => file.config.getCurrentContext()).find(Boolean),
  });
  const all = paths.join(", ");
  const wanted: unknown = config.getCurrentContext();
  const names = config.getContexts().flatMap(({ name }) => (typeof name === "string" ? name : []));
  const there = `there are: ${[...new Set(names)].join(", ") || "none"}`;
  if (typeof wanted !== "string" || wanted === "")
    throw unusable(`${all} has no current context: name one with --context (${there})`);
  if (!names.includes(wanted)) throw unusable(`${all} has no context ${wanted} (${there})`);
  const contents = files.map((file) => file.content);
  const problems = problemsWith(contents, wanted);
  if (problems.length > 0) throw new BadInputError(`The kubeconfig ${all} cannot be used`, problems);
  return config;
}

const written = v.object({ name: v.string(), user: v.nullish(v.record(v.string(), v.unknown()), {}) });
const raw = v.fallback(v.object({ users: v.array(written) }), { users: [] });

/** The users with what the library does not read of them. */
function usersIn({ path, content, config }: ReturnType<typeof readFile>): readonly User[] {
  const { users } = v.parse(raw, content);
  return config.getUsers().map((user) => {
    const { tokenFile, ...others } = users.find(({ name }) => name === user.name)?.user ?? {};
    const more = ["as-groups", "as-uid", "as-user-extra"].flatMap((key) =>
      others[key] ? [[key, others[key]]] : [],
    );
    const file = typeof tokenFile === "string" && { tokenFile: resolve(dirname(path), tokenFile) };
    return { ...user, ...Object.fromEntries(more), ...file };
  });
}

function readFile(path: string) {
  const text = read(path);
  const content = parse(path, text);
  const config = new KubeConfig();
  try {
    config.loadFromString(text);
    config.makePathsAbsolute(dirname(path));
    for (const { exec } of config.getUsers())
      if (String(exec?.command).includes("/")) exec.command = resolve(dirname(path), exec.command);
  } catch (error) {
    // The message of a TypeError over a wrong value helps nobody.
    const isOurs = error instanceof Error && !(error instanceof TypeError);
    throw unusable(
      `${path}: ${isOurs ? error.message : "its lists or their names are not as kubectl has them"}`,
    );
  }
  return { path, content, config };
}

function read(path: string): string {
  try {
    if (statSync(path).size > largest) throw new Error("it is too large to be a kubeconfig");
    return readFileSync(path, "utf8");
  } catch (error) {
    throw unusable(`${path}: ${fileProblem(error)}`);
  }
}

/** A parser's message shows the lines around, which may contain a token or a key. */
function parse(path: string, text: string): unknown {
  try {
    return load(text);
  } catch (error) {
    const at = error instanceof YAMLException && error.mark ? `, line ${error.mark.line + 1}` : "";
    throw unusable(`${path}${at}: it is not YAML as kubectl writes it`);
  }
}

/** The name of the EKS cluster; of others the one that the kubeconfig gives, in the form cluster names have here. */
export function clusterNameIn(config: KubeConfig): string {
  // How the AWS CLI and aws-iam-authenticator log in.
  const args: readonly string[] = config.getCurrentUser()?.exec?.args ?? [];
  const flag = args.findIndex((one) => one === "--cluster-name" || one === "-i");
  // The AWS CLI writes ARNs, whose end is the name; eksctl adds the region and its own name.
  const end =
    config
      .getCurrentCluster()
      ?.name.split("/")
      .at(-1)
      ?.replace(/\.[^.]+\.eksctl\.io$/, "") ?? "";
  return (
    ((flag < 0 ? undefined : args[flag + 1]) ?? end)
      .replaceAll(/[^0-9A-Za-z_-]+/g, "-")
      .replace(/^[-_]+/, "")
      .slice(0, 100) || "cluster"
  );
}

const unusable = (problem: string) => new BadInputError("This kubeconfig cannot be used", [problem]);
