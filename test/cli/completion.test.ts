import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commands } from "../../cli/command-line.ts";
import { holderName } from "../../lambda/core/marks/keys.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";
import { newFolder } from "../support/new-folder.ts";
import { typed } from "../support/typed.ts";

const run = async (...words: string[]) => {
  const { exit, output } = await typed(words);
  return { exit, lines: output.split("\n").filter(Boolean) };
};
const suggested = async (line: string) => (await run("__complete", ...line.split(" "))).lines;

describe("completion suggests", () => {
  it.each([
    ["", expect.arrayContaining(["status", "wait", "completion"])],
    ["sta", ["status"]],
    ["help re", ["release", "resume"]],
    ["status --ou", ["--output"]],
    ["status -o ", ["table", "wide", "json", "yaml", "name"]],
    ["status --output ya", ["yaml"]],
    // bash asks with the flag, the sign and the value apart, other shells with all in one.
    ["status --output = ya", ["yaml"]],
    ["status --output =", ["table", "wide", "json", "yaml", "name"]],
    ["status --output=ya", ["--output=yaml"]],
    ["status --output=json --outp", []],
    ["wait --for ", ["held", "released"]],
    ["wait --cluster ", []],
    ["wait --cluster prod --f", ["--for"]],
    ["status --watch --wa", []],
    ["status --run --q", ["--quiet"]],
    ["run --scope n", []],
    ["completion ", ["bash", "zsh", "fish"]],
    ["nonsense --x", []],
  ])("for %j", async (line, expected) => {
    expect(await suggested(line)).toEqual(expected);
  });

  it("every flag of every command, and none that is hidden", async () => {
    for (const make of commands) {
      const command = make(new CollectedTerminal());
      const visible = command.options.filter(({ hidden }) => !hidden).map(({ long }) => long);
      expect(await suggested(`${command.name()} --`)).toEqual(visible);
    }
  });
});

it("completes in bash, also where the shell runs it by another function", async () => {
  const folder = newFolder();
  const program = join(folder, holderName);
  const bin = join(import.meta.dirname, "../../cli/bin.js");
  writeFileSync(program, `#!/bin/sh\nexec ${process.execPath} ${bin} "$@"\n`);
  chmodSync(program, 0o755);
  const script = (await run("completion", "bash")).lines.join("\n");
  const typed = `COMP_WORDS=(${holderName} wait --for rel) COMP_CWORD=3
_karpenter_node_holder; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  expect(execFileSync("bash", ["-c", `${script}\n${typed}`], { env, encoding: "utf8" })).toBe("released\n");
});

it.each(["zsh", "fish"])(
  "prints a script for %s that asks with the words up to the cursor",
  async (shell) => {
    const { exit, lines } = await run("completion", shell);
    expect(exit).toBe(0);
    expect(lines.filter((line) => line.includes(`${holderName} __complete `))).toHaveLength(1);
  },
);
