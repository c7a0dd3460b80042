import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { commandLine, commands } from "../../cli/command-line.ts";
import { holderName } from "../../lambda/core/marks/keys.ts";
import { version } from "../../lambda/version.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";

const root = join(import.meta.dirname, "../..");
const { bin } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const run = async (...words: string[]) => {
  const terminal = new CollectedTerminal();
  const exit = await commandLine(words, terminal);
  return { exit, output: terminal.output, reported: terminal.reported };
};

describe("the command line", () => {
  it("reports its version", async () => {
    expect(await run("--version")).toEqual({ exit: 0, output: version, reported: "" });
  });

  it("displays help without arguments", async () => {
    const { exit, output, reported } = await run();
    expect({ exit, output }).toEqual({ exit: 2, output: "" });
    expect(reported).toContain("Usage: karpenter-node-holder");
  });

  it.each([
    ["hold", "--for", ["--reason", "x"]],
    ["pause", "--for", []],
  ])("reports in the help of %s the limits of %s that it keeps", async (name, flag, others) => {
    const { reported } = await run(name, "--cluster", "prod", ...others, flag, "9999h");
    const [limits = "no limits"] = /\d+[mh] to \d+h/.exec(reported) ?? [];
    expect((await run(name, "--help")).output).toContain(limits);
  });

  it("shows required flags, choices and defaults in its help", async () => {
    const { output } = await run("status", "--help");
    expect(output).toMatch(/--cluster <name> .+ \(required, or set\s+KARPENTER_NODE_HOLDER_CLUSTER\)/);
    expect((await run("hold", "--help")).output).toMatch(/--reason <text> .+ \(required\)/);
    expect(output).toContain("output format: table, wide, json, yaml, name (default:");
    expect(output).toContain("(default: 5s)");
    expect((await run("template", "--help")).output).toMatch(/default:\s+\.\/karpenter-node-holder\)/);
    for (const command of commands) {
      const help = (await run(command(new CollectedTerminal()).name(), "--help")).output;
      expect(help).not.toMatch(/default: [^)]*\)\s+\(default|default: \d{4,}/);
    }
  });

  // kubectl finds the second one for `kubectl karpenter-node-holder`.
  it.each([holderName, "kubectl-karpenter_node_holder"])("runs from the repository as %s", async (name) => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(root, bin[name]), "--version"]);
    expect(stdout.trim()).toBe(version);
  });

  it("ends well when the reader of its output has read enough", async () => {
    const program = spawn(process.execPath, [join(root, bin[holderName]), "--help"], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    program.stdout.destroy();
    const [stderr, [code]] = await Promise.all([text(program.stderr), once(program, "exit")]);
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
  });
});
