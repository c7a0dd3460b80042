import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { commands } from "../../cli/command-line.ts";
import { jobsOf } from "../real/runner/jobs.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";
import { documents, proseOf, type Typed, typedIn } from "./documents.ts";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8"));
const typed = documents.flatMap(typedIn);
const ours = /^(npx )?karpenter-node-holder /;
const npm = /^(?:[A-Z_]+=\S+ )*npm (?:run )?(?:--silent )?(\S+)(?: -- (.+))?$/;
const vitest = /^(?:[A-Z_]+=\S+ )*npx vitest run (\S+)$/;

describe("the commands in the documents", () => {
  it("are understood by our command line", () => {
    const lines = typed.filter(({ command }) => ours.test(command));
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.flatMap(problemsOf)).toEqual([]);
  });

  it("name flags that the command has, also where only `command --flag` is mentioned", () => {
    const flagsOf = new Map(
      commands
        .map((make) => make(new CollectedTerminal()))
        .map((command) => [command.name(), command.options.flatMap(({ short, long }) => [short, long])]),
    );
    const mentioned = documents.flatMap((document) =>
      [
        ...proseOf(document)
          .join("\n")
          .matchAll(/`([a-z]+)((?: -+[a-z-]+(?: \w+)?)+)`/g),
      ].flatMap(([mention, command = "", rest = ""]) => {
        const flags = flagsOf.get(command);
        return flags ? [{ document, mention, flags, words: rest.match(/ -+[a-z-]+/g) ?? [] }] : [];
      }),
    );
    expect(mentioned.length).toBeGreaterThan(10);
    const wrong = mentioned.filter(({ flags, words }) => words.some((word) => !flags.includes(word.trim())));
    expect(wrong.map(({ document, mention }) => `${document}: ${mention}`)).toEqual([]);
  });

  it("name npm scripts that exist, with flags that the script's sources name", () => {
    const used = typed.flatMap(({ where, command }) => {
      const [, script = "", words = ""] = npm.exec(command) ?? [];
      return ["", "ci", "install", "i", "pack"].includes(script)
        ? []
        : [{ where, script, words: words.split(" ") }];
    });
    expect(used.length).toBeGreaterThan(5);
    expect(used.filter(({ script }) => !(script in scripts))).toEqual([]);
    for (const { where, script, words } of used) {
      const flags = words.filter((word) => word.startsWith("--") && word !== "--help");
      if (script === "test:real") {
        expect(() => jobsOf(words.filter((word) => !/^(--help)?$/.test(word))), where).not.toThrow();
      } else for (const flag of flags) expect(sourcesOf(script), where).toContain(flag);
    }
  });

  it("wait for a function that works longer than the minute after which the AWS CLI would invoke it again", () => {
    const files = ["README.md", "docs/operating.md", "infra/node-holder.ts"];
    const invokes = files.flatMap((file) => readFileSync(file, "utf8").match(/aws lambda invoke .*/g) ?? []);
    expect(invokes).toHaveLength(3);
    for (const one of invokes) expect(one).toContain("aws lambda invoke --cli-read-timeout 0 ");
  });

  it("name test files that exist", () => {
    const folders = typed.flatMap(({ command }) => vitest.exec(command)?.[1] ?? []);
    expect(folders.filter((folder) => !existsSync(folder))).toEqual([]);
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
    expect(examples.flatMap((line) => problemsOf({ where: "help", command: line }))).toEqual([]);
  });
});

describe("the length", () => {
  const wordsIn = (text: string) => text.split(/\s+/).filter((word) => /\p{L}|\p{N}/u.test(word)).length;

  it("of the README is what somebody reads before they decide", () => {
    expect(wordsIn(readFileSync("README.md", "utf8"))).toBeLessThanOrEqual(1_200);
  });

  it("of the documents is what somebody finds their way in, without what programs write", () => {
    const pages = globSync("docs/*.md").map((page) => readFileSync(page, "utf8"));
    const words = pages.map((page) => wordsIn(page.replaceAll(/<!-- begin: written by .+?<!-- end: /gs, "")));
    expect(words.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(15_000);
  });
});

describe("links", () => {
  it.each(documents)("of %s lead to existing files and headings", (document) => {
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

  it("name only existing files", () => {
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

/** Why our command line would refuse a line; empty when it accepts it. */
function problemsOf({ where, command: line }: Pick<Typed, "where" | "command">): readonly string[] {
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
  const end = words.findIndex((word) => ["|", ">", ">>"].includes(word));
  return end < 0 ? words : words.slice(0, end);
}

/** The sources of an npm script: its program, and what that imports itself. */
function sourcesOf(script: string): string {
  const command: string = scripts[script];
  const file = command === "stryker run" ? strykersOwn : (command.split(" ").at(-1) ?? "");
  const text = readFileSync(file, "utf8");
  const imported = [...text.matchAll(/from "(\.+\/.+?)"/g)].map(([, path = ""]) => join(dirname(file), path));
  return [text, ...imported.map((path) => readFileSync(path, "utf8"))].join("\n");
}
const strykersOwn = "node_modules/@stryker-mutator/core/dist/src/stryker-cli.js";

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
