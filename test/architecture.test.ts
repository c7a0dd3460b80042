import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";

const sources = globSync(["{lambda,infra,cli,local,report,bench,scripts,test}/**/*.ts"]).map((path) => ({
  path,
  text: readFileSync(path, "utf8"),
}));
const ours = sources.filter(({ path }) => !path.startsWith("test/") && !path.startsWith("bench/"));

/** What a file imports: our own files by their path, others by their package's name. */
function importsOf({ path, text }: { path: string; text: string }): string[] {
  const names = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, name = ""]) => name);
  return names.map((name) => (name.startsWith(".") ? normalize(join(dirname(path), name)) : name));
}

const isOurs = (imported: string) => /^(lambda|infra|cli|local|report|bench|scripts|test)\//.test(imported);

/** Files that only name things; whoever deploys or runs the holder may know them. */
const names = [
  "lambda/environment.ts",
  "lambda/settings.ts",
  "lambda/names.ts",
  "lambda/version.ts",
  "lambda/core/duration.ts",
  "lambda/core/metrics.ts",
  "lambda/core/probe.ts",
  "lambda/core/errors.ts",
  "lambda/adapters/keys.ts",
  "lambda/adapters/table.ts",
  "package.json",
];

/** Each folder, and what of ours it may import. */
const allowed: Readonly<Record<string, readonly RegExp[]>> = {
  "lambda/core/": [/^lambda\/core\//],
  "lambda/handlers/": [/^lambda\/(core|handlers)\//, /^lambda\/version\.ts$/],
  "lambda/adapters/": [/^lambda\/(core|adapters)\//, /^lambda\/version\.ts$/],
  "lambda/main/": [/^lambda\/(?!main\/)/],
  "lambda/settings.ts": [/^lambda\/core\//, /^lambda\/adapters\/keys\.ts$/],
  "lambda/environment.ts": [/^lambda\/core\//, /^lambda\/settings\.ts$/],
  "lambda/wiring.ts": [/^lambda\/(?!main\/|handlers\/)/],
  "infra/": [/^infra\//],
  // The same holder on other ports: it has a wiring of its own and knows nothing of how functions start.
  "cli/": [/^(cli|local|report)\//, /^lambda\/(?!main\/|wiring\.ts|invocation\.ts)/, /^package\.json$/],
  "local/": [/^(cli|local|report)\//, /^lambda\/(?!main\/|wiring\.ts|invocation\.ts)/, /^package\.json$/],
  "report/": [/^report\//],
};

describe("arrows point inward", () => {
  it.each(Object.entries(allowed))("%s imports only what it may know", (folder, rules) => {
    const wrong = ours
      .filter(({ path }) => path.startsWith(folder))
      .flatMap((file) =>
        importsOf(file)
          .filter(isOurs)
          .map((imported) => ({ path: file.path, imported })),
      )
      .filter(({ imported }) => !rules.some((rule) => rule.test(imported)))
      .filter(({ imported }) => folder !== "infra/" || !names.includes(imported));
    expect(wrong).toEqual([]);
  });

  it("keeps libraries out of the core and of what handlers know", () => {
    const inner = ours.filter(({ path }) => /^lambda\/(core|handlers)\//.test(path));
    expect(inner.flatMap((file) => importsOf(file).filter((imported) => !isOurs(imported)))).toEqual([]);
  });

  it("lets nothing import tests or benchmarks", () => {
    const wrong = ours.flatMap((file) =>
      importsOf(file).filter((imported) => /^(test|bench)\//.test(imported)),
    );
    expect(wrong).toEqual([]);
  });
});

describe("effects have their place", () => {
  const deployed = ours.filter(({ path }) => path.startsWith("lambda/"));
  const filesWith = (pattern: RegExp, files = deployed) =>
    files.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

  it("reads the wall clock in one file", () => {
    expect(filesWith(/Date\.now\(|new Date\(\)/)).toEqual(["lambda/adapters/system-clock.ts"]);
  });

  it("reads the environment only where a function starts", () => {
    const starts = /^lambda\/main\/|^infra\/app\.ts$|^cli\/(main|terminal)\.ts$/;
    expect(filesWith(/process\.env/, ours).filter((path) => !starts.test(path))).toEqual([]);
  });
});

it("keeps every source short enough to be read in one go", () => {
  const long = ours.map(({ path, text }) => ({ path, lines: text.split("\n").length }));
  expect(long.filter(({ lines }) => lines > 250)).toEqual([]);
});

it("carries the package's version into every log line", async () => {
  const { version } = await import("../lambda/version.ts");
  expect(version).toBe(JSON.parse(readFileSync("package.json", "utf8")).version);
});
