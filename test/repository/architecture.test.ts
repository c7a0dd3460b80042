import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";

const folders = ["lambda", "infra", "cli", "local", "simulator", "report", "lab", "scripts", "test"];
const sources = globSync([`{${folders.join(",")}}/**/*.ts`]).map((path) => ({
  path,
  text: readFileSync(path, "utf8"),
}));
const ours = sources.filter(({ path }) => !path.startsWith("test/") && !path.startsWith("lab/"));

/** What a file imports: our own files by their path, others by their package's name. */
function importsOf({ path, text }: { path: string; text: string }): string[] {
  const names = [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"]+)"/g)].map(([, name = ""]) => name);
  return names.map((name) => (name.startsWith(".") ? normalize(join(dirname(path), name)) : name));
}

const isOurs = (imported: string) => folders.some((folder) => imported.startsWith(`${folder}/`));

/** Files that only define or compare names; infra may use them. */
const names = [
  "lambda/environment.ts",
  "lambda/settings.ts",
  "lambda/settings-table.ts",
  "lambda/spelling.ts",
  "lambda/version.ts",
  "lambda/core/duration.ts",
  "lambda/core/scope.ts",
  "lambda/core/requests.ts",
  "lambda/core/rules.ts",
  "lambda/core/metrics.ts",
  "lambda/handlers/event-sources.ts",
  "lambda/core/errors.ts",
  "lambda/core/marks/keys.ts",
  "lambda/record/item-table.ts",
  "lambda/aws/partitions.ts",
  "lambda/cluster-access/template-names.ts",
  "package.json",
];

/** Of deployments what the command line and `run` know, too: its settings, windows and names. */
const ofDeployments = [
  "infra/settings/deployment.ts",
  "infra/settings/windows.ts",
  "infra/event-pattern.ts",
  "infra/names.ts",
  "infra/package-root.ts",
];

/** Each folder or file, and which of our files it may import. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  "lambda/core/": ["lambda/core/", "lambda/spelling.ts"],
  "lambda/schemas/": ["lambda/core/", "lambda/schemas/"],
  "lambda/handlers/": ["lambda/core/", "lambda/handlers/", "lambda/schemas/", "lambda/version.ts"],
  "lambda/kubernetes/": ["lambda/core/", "lambda/kubernetes/"],
  "lambda/record/": ["lambda/core/", "lambda/record/", "lambda/schemas/"],
  "lambda/aws/": ["lambda/core/", "lambda/aws/", "lambda/record/", "lambda/kubernetes/transport.ts"],
  "lambda/cluster-access/": [
    "lambda/core/",
    "lambda/cluster-access/",
    "lambda/kubernetes/",
    "lambda/aws/",
    "lambda/schemas/",
    "lambda/environment.ts",
  ],
  "lambda/telemetry/": [
    "lambda/core/",
    "lambda/telemetry/",
    "lambda/kubernetes/client.ts",
    "lambda/system-clock.ts",
    "lambda/version.ts",
  ],
  "lambda/settings": ["lambda/core/", "lambda/settings-"],
  "lambda/environment.ts": ["lambda/core/", "lambda/settings.ts"],
  "lambda/wiring.ts": [
    "lambda/core/",
    "lambda/aws/",
    "lambda/kubernetes/",
    "lambda/record/",
    "lambda/telemetry/",
    "lambda/system-clock.ts",
    "lambda/environment.ts",
  ],
  "report/": ["report/"],
  "local/": ["local/", "report/", "lambda/", "package.json", "infra/settings/windows.ts"],
  "cli/": ["cli/", "local/", "report/", "lambda/", "package.json", ...ofDeployments],
  "simulator/": ["simulator/", "cli/terminal/", "cli/views/", "local/", "lambda/"],
  // What the app asks about the cluster before a deployment is no part of the construct.
  "infra/": ["infra/", "lambda/aws/usable-cluster.ts", "local/environment-proxy.ts", ...names],
};
/** How functions start: only they themselves know. */
const starts = /^lambda\/(main\/|wiring\.ts|invocation\.ts)/;

describe("arrows point inward", () => {
  it.each(Object.entries(allowed))("%s imports only what it may know", (folder, known) => {
    const wrong = ours
      .filter(({ path }) => path.startsWith(folder))
      .flatMap((file) =>
        importsOf(file)
          .filter(isOurs)
          .map((imported) => ({ path: file.path, imported })),
      )
      .filter(({ imported }) => starts.test(imported) || !known.some((path) => imported.startsWith(path)));
    expect(wrong).toEqual([]);
  });

  it("keeps libraries out of the core, and all but the schemas' library out of the handlers", () => {
    const librariesIn = (folder: string) =>
      ours
        .filter(({ path }) => path.startsWith(folder))
        .flatMap((file) => importsOf(file).filter((imported) => !isOurs(imported)));
    // It compares values, and knows nothing of where it runs.
    expect(librariesIn("lambda/core/").filter((library) => library !== "node:util")).toEqual([]);
    expect(librariesIn("lambda/handlers/").filter((library) => library !== "valibot")).toEqual([]);
  });

  it("keeps the CDK out of what the command line knows of deployments", () => {
    const imported = ours.filter(({ path }) => ofDeployments.includes(path)).flatMap(importsOf);
    const known = (path: string) => /^(lambda\/|node:)/.test(path) || ofDeployments.includes(path);
    expect(imported.filter((path) => !known(path))).toEqual([]);
  });

  it("lets nothing import tests or the lab", () => {
    const wrong = ours.flatMap((file) =>
      importsOf(file).filter((imported) => /^(test|lab)\//.test(imported)),
    );
    expect(wrong).toEqual([]);
  });
});

describe("the core lies in layers", () => {
  const importsIn = (folder: RegExp) => ours.filter(({ path }) => folder.test(path)).flatMap(importsOf);

  it("marks know nothing of the pass, and the pass nothing of what operators ask for", () => {
    expect(
      importsIn(/^lambda\/core\/marks\//).filter((path) => !path.startsWith("lambda/core/marks/")),
    ).toEqual([]);
    expect(importsIn(/^lambda\/core\/\w[\w-]*\.ts$/).filter((path) => path.includes("/operate/"))).toEqual(
      [],
    );
  });

  it("and has no other folder", () => {
    const folders = ours.flatMap(({ path }) => /^lambda\/core\/(\w+)\//.exec(path)?.[1] ?? []);
    expect([...new Set(folders)].toSorted()).toEqual(["marks", "operate"]);
  });
});

it("no file imports itself by way of others", () => {
  const imports = new Map(ours.map((file) => [file.path, importsOf(file).filter(isOurs)]));
  const done = new Set<string>();
  const circleFrom = (path: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
    if (done.has(path)) return undefined;
    for (const next of imports.get(path) ?? []) {
      const circle = circleFrom(next, [...way, path]);
      if (circle) return circle;
    }
    done.add(path);
    return undefined;
  };
  expect([...imports.keys()].map((path) => circleFrom(path, [])).find((circle) => circle)).toBeUndefined();
});

describe("effects have their place", () => {
  const deployed = ours.filter(({ path }) => path.startsWith("lambda/"));
  const filesWith = (pattern: RegExp, files = deployed) =>
    files.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

  it("reads the wall clock in one file", () => {
    expect(filesWith(/Date\.now\(|new Date\(\)/)).toEqual(["lambda/system-clock.ts"]);
  });

  it("reads the environment only where a function starts, and passes it on to a program that logs in", () => {
    const starts = /^lambda\/main\/|^infra\/app\.ts$|^cli\/(main|terminal\/terminal)\.ts$/;
    const others = filesWith(/process\.env/, ours).filter((path) => !starts.test(path));
    expect(others).toEqual(["local/run/kubeconfig-login.ts"]);
  });
});

it("keeps every source short enough to be read in one go", () => {
  const long = ours.map(({ path, text }) => ({ path, lines: text.split("\n").length }));
  expect(long.filter(({ lines }) => lines > 250)).toEqual([]);
});
