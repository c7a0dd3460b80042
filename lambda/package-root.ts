import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The folder of the repository or of the installed package: code runs from several places inside of it. */
export function packageRoot(from: string): string {
  const manifest = join(from, "package.json");
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).name === "karpenter-node-holder")
    return from;
  if (dirname(from) === from) throw new Error("The package karpenter-node-holder has no package.json");
  return packageRoot(dirname(from));
}
