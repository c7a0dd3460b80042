import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parts } from "../../infra/names.ts";
import { measuredSizes, recordedSizes } from "../../scripts/bundle-sizes.ts";
import { bundleFile, bundleInto } from "../../scripts/bundles.ts";
import { newFolder } from "../support/new-folder.ts";

const tenth = 1.1;

// A bundle that grew on purpose is accepted with `npm run build:sizes`.
it.each(parts)("keeps the bundle of %s within a tenth of its recorded size", (part) => {
  const budget = (recordedSizes().get(part) ?? 0) * tenth;
  expect(measuredSizes().get(part)).toBeLessThanOrEqual(budget);
});

it("contains all that a function needs: the package depends on no other package", () => {
  expect(JSON.parse(readFileSync("package.json", "utf8")).dependencies).toEqual({});
});

it("builds the same bytes from the same sources", async () => {
  const folder = newFolder();
  await bundleInto("release", join(folder, "index.mjs"));
  expect(readFileSync(join(folder, "index.mjs"))).toEqual(readFileSync(bundleFile("release")));
});
