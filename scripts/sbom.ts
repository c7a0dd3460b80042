import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { buildStaleFunctions } from "./bundles.ts";
import { buildPackage } from "./package.ts";

// Prints npm's bill of materials of all packages inside the package, without those that only build it.
// Its argument is the time of creation, in seconds since 1970.
type Package = { SPDXID: string; packageFileName: string };
type Relationship = { spdxElementId: string; relatedSpdxElement: string };
type Document = {
  SPDXID: string;
  documentNamespace: string;
  creationInfo: { created: string };
  packages: Package[];
  relationships: Relationship[];
};

await buildStaleFunctions();
const inside = await buildPackage(join(import.meta.dirname, "..", "dist"));
const all: Document = JSON.parse(
  execFileSync("npm", ["sbom", "--sbom-format", "spdx"], { encoding: "utf8", maxBuffer: 2 ** 26 }),
);
const [own, ...others] = all.packages;
const packages = [...(own ? [own] : []), ...others.filter((one) => inside.has(one.packageFileName))];
const ids = new Set([all.SPDXID, ...packages.map((one) => one.SPDXID)]);
const relationships = all.relationships.filter(
  (one) => ids.has(one.spdxElementId) && ids.has(one.relatedSpdxElement),
);
// The same bytes from the same sources: npm writes the time of day, and a random id.
const created = new Date(Number(process.argv[2] ?? 0) * 1000).toISOString();
const documentNamespace = all.documentNamespace.replace(/-[0-9a-f-]{36}$/, "");
const document = {
  ...all,
  documentNamespace,
  creationInfo: { ...all.creationInfo, created },
  packages,
  relationships,
};
process.stdout.write(`${JSON.stringify(document, undefined, 2)}\n`);
