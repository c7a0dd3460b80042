import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Part, parts } from "../infra/names.ts";
import { buildFunctions, bundleFile } from "./bundles.ts";

const record = join(import.meta.dirname, "bundle-sizes.json");

type Sizes = ReadonlyMap<Part, number>;

/** The present sizes of the bundles, in bytes without source maps. */
export const measuredSizes = (): Sizes =>
  new Map(parts.map((part) => [part, statSync(bundleFile(part)).size]));

/** The sizes when they were last recorded. */
export function recordedSizes(): Sizes {
  const recorded = JSON.parse(readFileSync(record, "utf8"));
  return new Map(parts.map((part) => [part, Number(recorded[part])]));
}

// `npm run build:sizes` records the present sizes as the budget.
if (import.meta.main) {
  await buildFunctions();
  writeFileSync(record, `${JSON.stringify(Object.fromEntries(measuredSizes()), undefined, 2)}\n`);
}
