import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { commandLine } from "../../cli/command-line.ts";
import { commands } from "../../cli/commands.ts";
import { type Shell, shells } from "../../cli/terminal/completion-scripts.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";
import { hasShell, offersOf } from "../support/shells.ts";

const folder = mkdtempSync(join(tmpdir(), "completion-"));
afterAll(() => rmSync(folder, { recursive: true }));

const script = async (shell: string) => {
  const terminal = new CollectedTerminal();
  expect(await commandLine(["completion", shell], terminal)).toBe(0);
  return `${terminal.output}\n`;
};

for (const shell of shells.filter((one) => !hasShell(one)))
  process.stderr.write(`no ${shell} on this machine: its completion is not tried\n`);

// Zsh looks through all it could complete before it completes anything.
describe.each(shells)("completion in %s", { timeout: 60_000 }, (shell: Shell) => {
  const offers = async (line: string) =>
    [...offersOf(shell, await script(shell), `karpenter-node-holder ${line}`, folder)].sort();

  it.skipIf(!hasShell(shell))("offers every command", async () => {
    const names = commands.map((command) => command(new CollectedTerminal()).name());
    expect(await offers("")).toEqual(expect.arrayContaining([...names, "help"]));
    expect(await offers("his")).toEqual(["history"]);
    expect(await offers("help his")).toEqual(["history"]);
  });

  it.skipIf(!hasShell(shell))("offers a command's flags, by both names a flag's choices", async () => {
    expect(await offers("release --f")).toEqual(["--force"]);
    expect(await offers("release --h")).toEqual(["--help"]);
    for (const flag of ["-o", "--output"])
      expect(await offers(`status ${flag} `)).toEqual(["json", "table", "wide"]);
    expect(await offers("completion f")).toEqual(["fish"]);
  });

  it.skipIf(!hasShell(shell))(
    "offers files where a file is meant, and nothing where nobody knows",
    async () => {
      expect(await offers("run --kubeconfig packag")).toEqual(["package-lock.json", "package.json"]);
      expect(await offers("advise --from READ")).toEqual(["README.md"]);
      expect(await offers("status --cluster ")).toEqual([]);
      expect(await offers("release packag")).toEqual([]);
    },
  );
});

describe("completion", () => {
  it("knows no other shell", async () => {
    const terminal = new CollectedTerminal();
    expect(await commandLine(["completion", "cmd"], terminal)).toBe(2);
  });
});
