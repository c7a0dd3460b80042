import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { BadInputError } from "../lambda/core/errors.ts";

/** Which of a kubeconfig's contexts to use; the current one unless told. */
export type KubeconfigChoice = Readonly<{ path: string; context?: string | undefined }>;

/** Reads a kubeconfig and settles on one context; a problem tells what was looked for. */
export function readKubeconfig({ path, context }: KubeconfigChoice): KubeConfig {
  const config = new KubeConfig();
  try {
    config.loadFromString(readFileSync(path, "utf8"));
    config.makePathsAbsolute(dirname(path));
  } catch (error) {
    throw unusable(`${path}: ${error instanceof Error ? error.message : error}`);
  }
  if (context !== undefined) config.setCurrentContext(context);
  const wanted = config.getCurrentContext();
  const known = config.getContexts().map(({ name }) => name);
  const there = `there are: ${known.join(", ") || "none"}`;
  if (!wanted) throw unusable(`${path} has no current context: name one with --context (${there})`);
  if (!known.includes(wanted)) throw unusable(`${path} has no context ${wanted} (${there})`);
  if (!config.getCurrentCluster()?.server) throw unusable(`context ${wanted} names no cluster with a server`);
  return config;
}

/** The name a kubeconfig gives its cluster, in the form cluster names have here. */
export function clusterNameIn(config: KubeConfig): string {
  // EKS writes ARNs; the end of it is the name.
  const end = config.getCurrentCluster()?.name.split("/").at(-1) ?? "";
  return (
    end
      .replaceAll(/[^0-9A-Za-z_-]+/g, "-")
      .replace(/^[-_]+/, "")
      .slice(0, 100) || "cluster"
  );
}

const unusable = (problem: string) => new BadInputError("This kubeconfig cannot be used", [problem]);
