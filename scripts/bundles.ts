import { existsSync, globSync, mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { type Part, parts } from "../lambda/names.ts";
import { plainSchemaKeys } from "./schema-keys.ts";

const root = join(import.meta.dirname, "..");
const functions = join(root, "dist", "functions");
const stamp = join(functions, "built");

/** Each function's entry file, which exports its `handler`. */
const entryOf = (part: Part): string => join(root, "lambda", "main", `${part}.ts`);

/** Where a function's bundle is. */
export const bundleFile = (part: Part): string => join(functions, part, "index.mjs");

/** Bundles every function into dist/functions, the same bytes from the same sources. */
export async function buildFunctions(): Promise<void> {
  const begun = new Date();
  rmSync(functions, { recursive: true, force: true });
  for (const part of parts) await bundleInto(part, bundleFile(part));
  mkdirSync(functions, { recursive: true });
  writeFileSync(stamp, "");
  utimesSync(stamp, begun, begun);
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
    legalComments: "linked",
    metafile: true,
    logLevel: "warning",
  });
}
