import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";
import { expect, it } from "vitest";
import { bundleFile } from "../../scripts/bundles.ts";
import { plainSchemaKeys, withPlainKeys } from "../../scripts/schema-keys.ts";
import { newFolder } from "../support/new-folder.ts";

it.each(["dynamodb", "eks", "scheduler"])("describes %s identically with plain keys", async (service) => {
  const [asItComes, plain] = [await schemasOf(service, []), await schemasOf(service, [plainSchemaKeys])];

  expect(Object.keys(plain).length).toBeGreaterThan(10);
  expect(asText(plain)).toBe(asText(asItComes));
});

it("leaves a key alone that is no constant text, or would mean something else", () => {
  const rest = 'const a = x();\nconst b = "__proto__";\nexport var S = { [a]: 1, [b]: 2, [c]: 3 };';

  expect(withPlainKeys(rest)).toBe(rest);
});

it("removes unused code from a bundle", () => {
  const hold = readFileSync(bundleFile("hold"), "utf8");

  expect(hold).toContain('"DescribeInstances"');
  expect(hold).not.toMatch(/"(RunInstances|DeleteTable|CreateCluster|AssumeRoleWithWebIdentity)"/);
});

async function schemasOf(service: string, plugins: Plugin[]): Promise<Record<string, unknown>> {
  const folder = newFolder();
  const outfile = join(folder, "schemas.mjs");
  const entry = `node_modules/@aws-sdk/client-${service}/dist-es/schemas/schemas_0.js`;
  await build({ entryPoints: [entry], outfile, plugins, bundle: true, platform: "node", format: "esm" });
  return await import(pathToFileURL(outfile).href);
}

/** Schemas name each other by functions, which are compared as source text. */
const asText = (schemas: Record<string, unknown>): string =>
  JSON.stringify(schemas, (_, value) => (typeof value === "function" ? String(value) : value));
