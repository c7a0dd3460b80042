import { execFile, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { isAlive, processTable } from "../engines/process-table.ts";
import { Processes, until } from "../engines/processes.ts";
import { engineEnvironment, engineFolder, runsFolder } from "../runner/run-folder.ts";

const here = import.meta.dirname;
const node = process.execPath;
const forever = "setInterval(() => {}, 1e6);";

it("engines do not see the user's keys, profiles and clusters", () => {
  const before = { ...process.env };
  Object.assign(process.env, {
    AWS_PROFILE: "production",
    AWS_SESSION_TOKEN: "secret",
    KUBECONFIG: "/home/me/.kube/config",
  });

  const seen = engineEnvironment("/folder");

  process.env = before;
  for (const name of ["AWS_PROFILE", "AWS_SESSION_TOKEN", "KUBECONFIG"])
    expect(seen).not.toHaveProperty(name);
});

describe("engines end with the process that started them", () => {
  const parent = `
    const { Processes } = await import(${JSON.stringify(join(here, "../engines/processes.ts"))});
    const processes = new Processes("family");
    const { child } = processes.start("child", process.execPath, ["-e", ${JSON.stringify(forever)}]);
    console.log(child.pid);
    ${forever}`;

  it("also when that is killed with SIGKILL", async () => {
    const family = spawn(node, ["--input-type=module", "-e", parent], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const child = await new Promise<number>((resolve) =>
      createInterface(family.stdout).once("line", (line) => resolve(Number(line))),
    );

    family.kill("SIGKILL");

    await until("the child to end", async () => !isAlive(child));
  });

  it("and no watcher stays for an engine that ended before", async () => {
    const processes = new Processes("watched");
    const name = `watched-${process.pid}`;
    const alive = async () => (await processTable()).filter(({ command }) => command.includes(name));
    const { child } = processes.start("child", node, ["-e", forever, name]);
    await until("it and its watcher to start", async () => (await alive()).length === 2);

    child.kill();

    await until("both to end", async () => (await alive()).length === 0);
  });
});

describe("the runner of suites", () => {
  const runner = (names: readonly string[], env: NodeJS.ProcessEnv = process.env) =>
    promisify(execFile)(node, [join(here, "../runner/run.ts"), ...names], { env });

  it("fails for each suite that cannot be built, and names the missing program and where to get it", async () => {
    const folder = mkdtempSync(join(engineFolder("bare"), "build-"));

    const running = runner(["access", "template"], { PATH: "/nowhere", KNH_BUILD: folder });

    const stderr = expect.stringMatching(/python3 was not found.*go was not found.*go\.dev\/dl/s);
    await expect(running).rejects.toMatchObject({ code: 1, stdout: "0 passed, 2 failed\n", stderr });
  });

  it("leaves no process when it is killed with SIGKILL", async () => {
    const { runner, family } = await startRunner();
    const { all } = await family();
    expect(all.length).toBeGreaterThanOrEqual(4); // the suite, its worker, an etcd and an API server

    runner.kill("SIGKILL");

    await until("all of them to end", async () => !all.some(isAlive));
  });

  it.each(["suite", "worker"] as const)(
    "fails when its %s is killed with SIGKILL, and leaves no process",
    async (victim) => {
      const { ended, family } = await startRunner();
      const before = await family();

      process.kill(before[victim], "SIGKILL");

      expect(await ended).toBe(1);
      expect(before.all.filter(isAlive)).toEqual([]);
    },
  );

  /** A runner of a suite with engines, started until these run. */
  async function startRunner() {
    const runner = spawn(node, [join(here, "../runner/run.ts"), "many-nodes"], {
      stdio: "ignore",
    });
    onTestFinished(() => void runner.kill());
    const ended = new Promise((resolve) => runner.once("exit", resolve));
    const folder = join(runsFolder, String(runner.pid));
    const family = async () => {
      const table = await processTable();
      const [suite = 0] = table.filter(({ parent }) => parent === runner.pid).map(({ group }) => group);
      const all = table.filter(({ group }) => group === suite);
      const etcd = all.find(({ command }) => command.includes(`--data-dir=${folder}`));
      const isServed = all.some(({ command }) => command.includes(`--cert-dir=${folder}`));
      return { suite, worker: etcd?.parent ?? 0, isServed, all: all.map(({ pid }) => pid) };
    };
    await until("its first engines to run", async () => (await family()).isServed);
    return { runner, ended, family };
  }
});
