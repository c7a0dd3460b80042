import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { mutations } from "./mutations.ts";

const project = resolve(import.meta.dirname, "../..");
const edits = mutations.flatMap(({ bug, edits }) => edits.map((edit) => ({ bug, ...edit })));

it.each(edits)("the bug to plant still fits the source: $bug, in $file", ({ file, find }) => {
  const source = readFileSync(resolve(project, file), "utf8");

  expect(source.split(find).length - 1, `how often ${file} says ${find}`).toBe(1);
});
