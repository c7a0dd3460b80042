import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { commandLine } from "../../cli/command-line.ts";
import { commands } from "../../cli/commands.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";

const script = async (shell: string) => {
  const terminal = new CollectedTerminal();
  expect(await commandLine(["completion", shell], terminal)).toBe(0);
  return terminal.output;
};

/** What bash would offer after these words. */
const offers = async (...words: string[]) => {
  const list = words.map((word) => `'${word}'`).join(" ");
  const ask = `COMP_WORDS=(karpenter-node-holder ${list}); COMP_CWORD=${words.length}; _karpenter_node_holder; echo "\${COMPREPLY[@]}"`;
  const said = execFileSync("bash", ["-c", `${await script("bash")}\n${ask}`], { encoding: "utf8" });
  return said.trim().split(" ");
};

describe("completion", () => {
  it("offers every command in bash", async () => {
    const names = commands.map((command) => command(new CollectedTerminal()).name());
    expect(await offers("")).toEqual(expect.arrayContaining(names));
    expect(await offers("his")).toEqual(["history"]);
  });

  it("offers a command's flags, and a flag's choices, in bash", async () => {
    expect(await offers("release", "--f")).toEqual(["--force"]);
    expect(await offers("status", "-o", "")).toEqual(["table", "wide", "json"]);
    expect(await offers("completion", "f")).toEqual(["fish"]);
  });

  it.each([
    ["zsh", "#compdef karpenter-node-holder", "'--force["],
    ["fish", "-a release -d", "-l force"],
  ])("knows %s", async (shell, ...expected) => {
    for (const text of expected) expect(await script(shell)).toContain(text);
  });

  it("knows no other shell", async () => {
    const terminal = new CollectedTerminal();
    expect(await commandLine(["completion", "cmd"], terminal)).toBe(2);
  });
});
