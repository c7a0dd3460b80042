import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Part } from "../names.ts";
import { packageRoot } from "../package-root.ts";

/** A function's code: a folder in a clone, built by `npm run build`, or an archive in the package. */
export function bundleOf(part: Part): string {
  const bundle = join(packageRoot(import.meta.dirname), "dist", "functions", part);
  if (existsSync(join(bundle, "index.mjs"))) return bundle;
  if (existsSync(`${bundle}.zip`)) return `${bundle}.zip`;
  throw new Error(`The code of the ${part} function is not built: run "npm run build" first`);
}
