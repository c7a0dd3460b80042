import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Part } from "../../lambda/names.ts";

/** A function's code: a folder in a clone, built by `npm run build`, or an archive in the package. */
export function bundleOf(part: Part): string {
  const bundle = join(packageRoot(import.meta.dirname), "dist", "functions", part);
  if (existsSync(join(bundle, "index.mjs"))) return bundle;
  if (existsSync(`${bundle}.zip`)) return `${bundle}.zip`;
  throw new Error(`The code of the ${part} function is not built: run "npm run build" first`);
}

// This file runs from infra/functions/ in the repository and from two places inside dist/ in the package.
function packageRoot(from: string): string {
  const manifest = join(from, "package.json");
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).name === "karpenter-node-holder")
    return from;
  if (dirname(from) === from) throw new Error("The package karpenter-node-holder has lost its package.json");
  return packageRoot(dirname(from));
}
