import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, build } from "esbuild";
import { parts } from "../infra/names.ts";
import { packagesFile } from "./bundles.ts";
import { bundledPackages, licensesOf } from "./licenses.ts";
import { plainSchemaKeys } from "./schema-keys.ts";
import { buildTemplates } from "./templates.ts";
import { withoutUnusedClients } from "./unused-clients.ts";
import { zipFolder } from "./zip-folder.ts";

const root = join(import.meta.dirname, "..");

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node22",
  logLevel: "warning",
} as const satisfies BuildOptions;

/**
 * Builds what the package contains beside the functions' bundles: the construct, the command line, the licenses.
 * Returns the folders of all packages whose code is in them.
 */
export async function buildPackage(dist: string): Promise<ReadonlySet<string>> {
  for (const folder of ["cjs", "cli", "infra", "lambda", "local", "report"]) {
    rmSync(join(dist, folder), { recursive: true, force: true });
  }
  for (const part of parts) {
    const folder = join(dist, "functions", part);
    zipFolder(folder, `${folder}.zip`);
  }
  await buildConstruct(dist);
  const functions: unknown = JSON.parse(readFileSync(packagesFile(dist), "utf8"));
  if (!Array.isArray(functions)) throw new Error("the build of the functions has listed no packages");
  const packages = new Set<string>([
    ...functions,
    ...(await buildCommandLine(dist)),
    ...buildTemplates(join(dist, "template")),
  ]);
  writeFileSync(join(dist, "THIRD-PARTY-LICENSES"), licensesOf(packages));
  return packages;
}

/** As ESM and as CommonJS, with declarations; the CDK stays outside. */
async function buildConstruct(dist: string): Promise<void> {
  const entryPoints = [join(root, "infra", "index.ts")];
  const outside = { ...common, entryPoints, external: ["aws-cdk-lib", "constructs"] };
  await build({ ...outside, format: "esm", outfile: join(dist, "infra", "index.js") });
  const commonjs = join(dist, "cjs");
  const define = { "import.meta.dirname": "__dirname" };
  await build({ ...outside, format: "cjs", define, outfile: join(commonjs, "infra", "index.js") });
  writeFileSync(join(commonjs, "package.json"), `${JSON.stringify({ type: "commonjs" })}\n`);

  // CommonJS apps accept declarations only from a CommonJS package.
  const compiler = join(root, "node_modules", ".bin", "tsc");
  const project = join(root, "tsconfig.build.json");
  execFileSync(compiler, ["--project", project, "--outDir", commonjs], { stdio: "inherit" });
  const isSource = (path: string) => !path.endsWith(".js");
  for (const folder of ["infra", "lambda"])
    cpSync(join(commonjs, folder), join(dist, folder), { recursive: true, filter: isSource });
}

/** In pieces, so that a command loads only what it needs; returns the folders of the packages inside. */
export async function buildCommandLine(dist: string): Promise<readonly string[]> {
  const { metafile } = await build({
    ...common,
    entryPoints: [join(root, "cli", "main.ts")],
    outdir: join(dist, "cli"),
    chunkNames: "parts/[name]-[hash]",
    splitting: true,
    format: "esm",
    // Dependencies that still ask for CommonJS get a `require` of their own.
    banner: {
      js: 'import{createRequire as requireOf}from"node:module";const require=requireOf(import.meta.url);',
    },
    mainFields: ["module", "main"],
    plugins: [plainSchemaKeys, withoutUnusedClients],
    // Optional dependencies of `ws` and `debug`, which both work without them.
    external: ["bufferutil", "utf-8-validate", "supports-color"],
    minify: true,
    legalComments: "none",
    metafile: true,
  });
  return bundledPackages(metafile);
}
