import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Part } from "../../infra/names.ts";
import { bundleFile, bundleInto } from "../../scripts/bundles.ts";
import { newFolder } from "../support/new-folder.ts";

/** A tenth more than the bundles had when this was written; one that grows on purpose gets more here. */
const kilobytes: Readonly<Record<Part, number>> = {
  hold: 477,
  release: 440,
  sweep: 467,
  control: 485,
  "cluster-access": 309,
};

it.each(Object.entries(kilobytes))("keeps the bundle of %s below %d KB", (part, most) => {
  expect(statSync(bundleFile(part as Part)).size).toBeLessThanOrEqual(most * 1_000);
});

it("contains all that a function needs: the package depends on no other package", () => {
  expect(JSON.parse(readFileSync("package.json", "utf8")).dependencies).toEqual({});
});

it("builds the same bytes from the same sources", async () => {
  const folder = newFolder();
  await bundleInto("release", join(folder, "index.mjs"));
  expect(readFileSync(join(folder, "index.mjs"))).toEqual(readFileSync(bundleFile("release")));
});
