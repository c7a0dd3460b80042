import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { commandLine } from "../../cli/command-line.ts";
import { run as runCommand } from "../../cli/commands/run.ts";
import { typedFlags } from "../../cli/terminal/flags.ts";
import { settingsFrom } from "../../cli/terminal/setting-flags.ts";
import { calledAs, giveHome } from "../../cli/terminal/terminal.ts";
import { holderName } from "../../lambda/core/marks/keys.ts";
import { version } from "../../lambda/version.ts";
import { CollectedTerminal } from "../support/collected-terminal.ts";
import { typed } from "../support/typed.ts";

const root = join(import.meta.dirname, "../..");
const { bin } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const run = (...words: string[]) => typed(words);

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

  it("shows in the help of a flag its choices, its default, and that it is required", async () => {
    const help = (await run("wait", "--help")).output.replaceAll(/\s+/g, " ");
    expect(help).toContain("--for <state> what to wait for: held, released (required)");
    expect(help).toContain("--timeout <duration> how long to wait at most (default: 10m)");
    expect((await run("completion", "--help")).output).toContain("your shell: bash, zsh, fish");
  });

  it("says where flags go that come before the command", async () => {
    const hint = "Flags follow the command: karpenter-node-holder COMMAND --context";
    expect((await run("--context", "x", "status")).reported).toContain(hint);
    expect((await run("status", "--contxt", "x")).reported).not.toContain("Flags follow");
  });

  // kubectl finds the second one for `kubectl karpenter-node-holder`.
  it.each([holderName, "kubectl-karpenter_node_holder"])("runs from the repository as %s", async (name) => {
    const { stdout } = await promisify(execFile)(process.execPath, [join(root, bin[name]), "--version"]);
    expect(stdout.trim()).toBe(version);
  });

  it.each([
    ["/opt/krew/bin/kubectl-karpenter_node_holder", "kubectl karpenter-node-holder"],
    ["/app/node_modules/.bin/karpenter-node-holder", "npx karpenter-node-holder"],
    ["/usr/local/bin/karpenter-node-holder", "karpenter-node-holder"],
  ])("started as %s, prints commands that can be typed", async (path, called) => {
    const ask = async (...words: string[]) => {
      const terminal = Object.assign(new CollectedTerminal(), { calledAs: calledAs(path) });
      await commandLine(words, terminal);
      return terminal.output + terminal.reported;
    };
    expect(await ask("statsu")).toContain(`See \`${called} --help\`.`);
    expect(await ask("status", "--clustr")).toContain(`See \`${called} status --help\`.`);
    expect(await ask("release", "--run", "any")).toContain(`See \`${called} release --help\`.`);
    const help = await ask("run", "--help");
    expect(help).toContain(`Usage: ${called} run `);
    expect(help).toContain(`  $ ${called} run --`);
  });

  it("prints flags again as they can be typed, those without a value alone", () => {
    const command = runCommand(new CollectedTerminal());
    const typed = ["--observe", "--page", "--hold", "2m", "--release-on-exit", "--context", "a b"];
    command.parseOptions(typed);
    const again = typedFlags(command, ({ long }) => long !== "--observe");
    expect(again.toSorted()).toEqual(typed.slice(1).toSorted());
  });

  it("adds to a list what its flag is given again, so that no window and no NodePool is dropped", () => {
    const command = runCommand(new CollectedTerminal());
    const [early, late] = ["cron(0 8 ? * MON-FRI *) 2h", "cron(0 20 * * ? *) 1h"];
    command.parseOptions([
      "--hold-during",
      early,
      "--hold-during",
      late,
      "--node-pools",
      "a",
      "--node-pools=!b",
    ]);
    const { settings, windows } = settingsFrom(command.opts(), { cluster: "prod" });
    expect(settings.nodePools).toEqual({ only: ["a"], except: ["b"] });
    expect(windows.map(({ for: lasts }) => lasts)).toEqual(["2h", "1h"]);
  });

  it("works for an account without a home, as in some containers", () => {
    const env = {};
    giveHome(env);
    expect(env).toEqual({});
    giveHome(env, () => {
      throw new Error("uv_os_homedir returned ENOENT");
    });
    expect(env).toEqual({ HOME: "/" });
  });

  it("ends well when the reader of its output has read enough", async () => {
    const program = spawn(process.execPath, [join(root, bin[holderName]), "--help"], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    program.stdout.destroy();
    const [stderr, [code]] = await Promise.all([text(program.stderr), once(program, "exit")]);
    expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
  });

  it.skipIf(!existsSync("/dev/full"))("fails in one line where the disk has no room for its output", () => {
    const full = openSync("/dev/full", "w");
    const { stderr, status } = spawnSync(process.execPath, [join(root, bin[holderName]), "--help"], {
      ...{ stdio: ["ignore", full, "pipe"], encoding: "utf8" },
    });
    closeSync(full);
    expect(stderr).toBe("error: the output cannot be written: ENOSPC: no space left on device, write\n");
    expect(status).toBe(1);
  });
});
