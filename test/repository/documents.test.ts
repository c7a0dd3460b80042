import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { commands } from "../../cli/commands.ts";
import { documented, scripted, typedByCi } from "../real/runner/documented.ts";
import { jobsOf } from "../real/runner/jobs.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";
import { documents, proseOf, type Typed, typedIn } from "../support/documents.ts";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
const typed = documents.flatMap(typedIn);
const ours = /^(npx )?karpenter-node-holder /;
const npm = /^(?:[A-Z_]+=\S+ )*npm (?:run )?(\S+)(?: -- (.+))?$/;
const vitest = /^(?:[A-Z_]+=\S+ )*npx (vitest) run (\S+)$/;
const onRealEngines = new Set<string>(Object.values(documented));
const runByTests: readonly string[] = [
  ...Object.values(scripted.commands),
  ...Object.values(scripted.churn),
  ...typedByCi,
];

describe("what the documents tell people to type", () => {
  it("is typed by a test, is a script of ours, or is marked as needing an account", () => {
    const nobodys = typed.filter(
      ({ command, needsAccount }) =>
        !needsAccount && !onRealEngines.has(command) && !npm.test(command) && !existsSync(testsOf(command)),
    );
    expect(nobodys).toEqual([]);
  });

  it("is a script that a test runs, with each of its options", () => {
    const unrun = typed.flatMap(({ where, command }) => {
      const script = scriptOf(command);
      const options = runByTests.filter((one) => scriptOf(one) === script).map(optionsOf);
      const isRun =
        options.length > 0 && optionsOf(command).every((option) => options.flat().includes(option));
      return script === undefined || isRun ? [] : [`${where}: ${command}`];
    });
    expect(unrun).toEqual([]);
  });

  it("is all that tests run as told by a document", () => {
    const told = new Set(typed.map(({ command }) => scriptOf(command)));
    expect(runByTests.filter((command) => !told.has(scriptOf(command)))).toEqual([]);
  });

  it.each(typedByCi)("is run by CI: %s", (command) => {
    expect(readFileSync(".ci/run", "utf8")).toMatch(new RegExp(`^(step ".+" )?${command}( --no.*)?$`, "m"));
  });

  it("is marked only where AWS's own command line is needed", () => {
    expect(typed.filter(({ command, needsAccount }) => needsAccount !== command.startsWith("aws "))).toEqual(
      [],
    );
  });

  it("is what the suite of the documents types, and nothing beyond it", () => {
    expect([...onRealEngines].filter((command) => !typed.some((one) => one.command === command))).toEqual([]);
  });

  it("is understood by our command line", () => {
    const lines = typed.filter(({ command }) => ours.test(command));
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.flatMap(misunderstood)).toEqual([]);
  });

  it("is a script of ours, with words that its help tells", { timeout: 60_000 }, async () => {
    const asked = typed.flatMap(({ where, command }) => {
      const [, script = "", words = ""] = npm.exec(command) ?? [];
      return script === "" || script === "ci"
        ? []
        : [{ where, script, words: words.split(" ").filter(Boolean) }];
    });
    expect(asked.filter(({ script }) => !(script in scripts))).toEqual([]);
    for (const { where, script, words } of asked) {
      if (script === "test:real")
        expect(() => jobsOf(words.filter((word) => word !== "--help")), where).not.toThrow();
      else for (const word of words.filter(isReported)) expect(await helpOf(script), where).toContain(word);
    }
  });
});

describe("the examples in the help", () => {
  it.each(
    commands
      .map((make) => make(new CollectedTerminal()))
      .map((command) => [command.name(), command] as const),
  )("of %s are understood by our command line", (_, command) => {
    let help = "";
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    const examples = [...help.matchAll(/^ {2}\$ (.+)$/gm)].map(([, line = ""]) => line);
    expect(examples.length).toBeGreaterThan(0);
    expect(examples.flatMap((line) => misunderstood({ where: "help", command: line }))).toEqual([]);
  });
});

describe("links", () => {
  it.each(documents)("of %s lead to something, and to a heading that is there", (document) => {
    const targets = proseOf(document).flatMap((line) =>
      [...line.replaceAll(/`[^`]*`/g, "").matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = ""]) => target),
    );
    const broken = targets
      .filter((target) => !/^https?:/.test(target))
      .filter((target) => {
        const [path = "", anchor] = target.split("#");
        const file = path === "" ? document : join(dirname(document), path);
        return !existsSync(file) || (anchor !== undefined && !headingsOf(file).includes(anchor));
      });
    expect(broken).toEqual([]);
  });

  it("name only files that are there", () => {
    const named = documents.flatMap((document) =>
      proseOf(document).flatMap((line) =>
        [
          ...line.matchAll(
            /`((?:lambda|infra|cli|local|report|simulator|test|lab|scripts|docs)\/[\w./-]+\.\w+)`/g,
          ),
        ].map(([, path = ""]) => path),
      ),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
  });
});

/** The script that a command runs. */
const scriptOf = (command: string): string | undefined => (npm.exec(command) ?? vitest.exec(command))?.[1];

/** What a command asks of a script, whatever it asks for: its variables and options. */
const optionsOf = (command: string): readonly string[] =>
  command.match(/(?<=^| )(?:--[a-z][\w-]*|[A-Z_]+(?==))/g) ?? [];

/** The folder whose tests a command runs. */
const testsOf = (command: string): string => vitest.exec(command)?.[2] ?? "";

/** Why our command line would not understand a line; nothing where it does. */
function misunderstood({ where, command: line }: Pick<Typed, "where" | "command">): readonly string[] {
  const [name, ...rest] = wordsOf(line.replace(ours, ""));
  if (name === "--help") return [];
  const command = commands.map((make) => make(new CollectedTerminal())).find((one) => one.name() === name);
  if (!command) return [`${where}: there is no command ${name}`];
  try {
    silent(command)
      .action(() => {})
      .parse(rest, { from: "user" });
    return [];
  } catch (error) {
    return [`${where}: ${line}: ${error instanceof Error ? error.message : error}`];
  }
}

const silent = (command: Command): Command =>
  command.exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} });

/** The words of a line as a shell would part them, up to a pipe or a file. */
function wordsOf(line: string): readonly string[] {
  const words = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? "");
  const end = words.findIndex((word) => word === "|" || word === ">");
  return end < 0 ? words : words.slice(0, end);
}

/** Flags and names; what a flag is given is nobody's to know. */
const isReported = (word: string, at: number, all: readonly string[]): boolean =>
  word.startsWith("--") || !all[at - 1]?.startsWith("--");

const helps = new Map<string, Promise<string>>();
function helpOf(script: string): Promise<string> {
  const known =
    helps.get(script) ??
    promisify(execFile)("sh", ["-c", `${scripts[script]} --help`], withOurNode).then(({ stdout }) => stdout);
  helps.set(script, known);
  return known;
}
const withOurNode = { env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` } };

/** Anchors as GitHub makes them of headings. */
function headingsOf(file: string): readonly string[] {
  return proseOf(file)
    .filter((line) => /^#{1,6} /.test(line))
    .map((line) => line.replace(/^#+ /, "").toLowerCase())
    .map((heading) =>
      heading
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
        .trim()
        .replaceAll(" ", "-"),
    );
}
