import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { suites } from "../real/runner/jobs.ts";

const read = (file: string) => readFileSync(file, "utf8");
const ignored = read(".gitignore")
  .split("\n")
  .map((line) => line.replace(/\/$/, ""));
const foldersIn = (path: string): readonly string[] =>
  readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .filter((name) => !name.startsWith(".") && !ignored.includes(name))
    .toSorted();

/** Folders that begin a line of a page's tree. */
const inTree = (file: string, indent = ""): readonly string[] =>
  [...read(file).matchAll(new RegExp(`^${indent}([a-z-]+)/ +\\S`, "gm"))].map(([, name = ""]) => name);

describe("the tree of folders", () => {
  it("in architecture.md has every folder there is, and no other", () => {
    expect(inTree("docs/architecture.md").toSorted()).toEqual(foldersIn("."));
    expect(inTree("docs/architecture.md", " {2}").toSorted()).toEqual(foldersIn("lambda"));
  });
});

it("lists every suite on real engines once", () => {
  const [, section = ""] = read("docs/proven.md").split("\n| Suite | What it tests |\n");
  const reported = [...(section.split("\n\n")[0] ?? "").matchAll(/^\| `([a-z-]+)` \|/gm)].map(
    ([, name]) => name,
  );
  expect(reported.toSorted()).toEqual(suites);
});
