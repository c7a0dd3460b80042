import { execFileSync } from "node:child_process";
import { cpSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { buildFunctions } from "./bundles.ts";

// Everything the package ships: the functions' bundles, the construct for ESM and CommonJS apps, the command line.
const root = join(import.meta.dirname, "..");
const dist = join(root, "dist");
const commonjs = join(dist, "cjs");

rmSync(dist, { recursive: true, force: true });
await buildFunctions();
execFileSync("tsc", ["--project", join(root, "tsconfig.build.json")], { stdio: "inherit" });

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
