import { execFileSync } from "node:child_process";
import { cpSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const root = join(import.meta.dirname, "..");

/** Compiles what the package ships beside the functions: the construct for ESM and CommonJS apps, the command line. */
export async function buildPackage(dist: string): Promise<void> {
  for (const folder of ["cjs", "cli", "infra", "lambda", "local", "report"]) {
    rmSync(join(dist, folder), { recursive: true, force: true });
  }
  const compiler = join(root, "node_modules", ".bin", "tsc");
  const project = join(root, "tsconfig.build.json");
  execFileSync(compiler, ["--project", project, "--outDir", dist], { stdio: "inherit" });
  await buildCommonJs(dist, join(dist, "cjs"));
}

async function buildCommonJs(dist: string, commonjs: string): Promise<void> {
  await build({
    entryPoints: [join(root, "infra", "index.ts")],
    outfile: join(commonjs, "infra", "index.js"),
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    target: "node22",
    format: "cjs",
    external: ["aws-cdk-lib", "constructs"],
    define: { "import.meta.dirname": "__dirname" },
    logLevel: "warning",
  });
  // The same declarations, which CommonJS apps accept only from a CommonJS package.
  const declarations = (path: string) => statSync(path).isDirectory() || path.endsWith(".d.ts");
  for (const folder of ["infra", "lambda"]) {
    cpSync(join(dist, folder), join(commonjs, folder), { recursive: true, filter: declarations });
  }
  writeFileSync(join(commonjs, "package.json"), `${JSON.stringify({ type: "commonjs" })}\n`);
}
