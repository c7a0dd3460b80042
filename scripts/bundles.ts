import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { type Part, parts } from "../infra/names.ts";
import { bundledPackages } from "./licenses.ts";
import { plainSchemaKeys } from "./schema-keys.ts";

const root = join(import.meta.dirname, "..");
const functions = join(root, "dist", "functions");
/** Lists the packages inside the functions' bundles; its modification time is when they were built. */
export const packagesFile = (dist: string): string => join(dist, "functions", "packages.json");
const stamp = packagesFile(join(root, "dist"));

/** Each function's entry file, which exports its `handler`. */
const entryOf = (part: Part): string => join(root, "lambda", "main", `${part}.ts`);

/** Where a function's bundle is. */
export const bundleFile = (part: Part): string => join(functions, part, "index.mjs");

/**
 * Bundles every function into dist/functions, the same bytes from the same sources. Each file is replaced in one step,
 * because other processes may read the bundles, or build them, at the same time.
 */
export async function buildFunctions(): Promise<void> {
  const begun = new Date();
  for (const part of parts) mkdirSync(join(functions, part), { recursive: true });
  mkdirSync(join(root, "build"), { recursive: true });
  // As deep as the bundles, because paths in source maps are relative; not in the package's folder.
  const fresh = mkdtempSync(join(root, "build", "functions-"));
  try {
    const packages = new Set<string>();
    for (const part of parts) {
      const { metafile } = await bundleInto(part, join(fresh, part, "index.mjs"));
      for (const folder of bundledPackages(metafile)) packages.add(folder);
      for (const file of readdirSync(join(fresh, part)))
        renameSync(join(fresh, part, file), join(functions, part, file));
    }
    const list = join(fresh, "packages.json");
    writeFileSync(list, JSON.stringify([...packages]));
    utimesSync(list, begun, begun);
    renameSync(list, stamp);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Bundles only when a source is newer than the bundles. */
export async function buildStaleFunctions(): Promise<void> {
  if (!areFresh()) await buildFunctions();
}

function areFresh(): boolean {
  if (!existsSync(stamp)) return false;
  const sources = globSync(["lambda/**/*.ts", "scripts/*.ts", "package-lock.json"], { cwd: root });
  const newest = Math.max(...sources.map((source) => statSync(join(root, source)).mtimeMs));
  return newest < statSync(stamp).mtimeMs;
}

/** Bundles one function into one file; returns esbuild's metadata. */
export async function bundleInto(part: Part, outfile: string) {
  return build({
    entryPoints: [entryOf(part)],
    outfile,
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    target: "node24",
    format: "esm",
    // Dependencies that still ask for CommonJS get a `require` of their own.
    banner: { js: 'import{createRequire}from"node:module";const require=createRequire(import.meta.url);' },
    mainFields: ["module", "main"],
    alias: {
      "@aws-sdk/credential-provider-node": join(import.meta.dirname, "function-credentials.ts"),
    },
    plugins: [plainSchemaKeys],
    minify: true,
    sourcemap: true,
    sourcesContent: false,
    legalComments: "none",
    metafile: true,
    logLevel: "warning",
  });
}

// `npm run app` builds before it synthesizes.
if (import.meta.main) await buildStaleFunctions();
