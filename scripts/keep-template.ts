import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { version } from "../lambda/version.ts";
import { synthesizeStack } from "./templates.ts";

/** Where the templates of released versions are, each under its version. */
export const keptTemplates = join(import.meta.dirname, "../test/infra/kept");
/** The cluster of these templates. */
export const keptCluster = "kept";

/** Keeps the template of this version, for the tests of the next ones: `npm run keep:template`, once for a release. */
if (import.meta.main) {
  const { template } = synthesizeStack({ cluster: keptCluster });
  const file = join(keptTemplates, `${version}.json.gz`);
  writeFileSync(file, gzipSync(JSON.stringify(template), { level: 9 }));
  console.log(file);
}
