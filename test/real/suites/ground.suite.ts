import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { freePorts, onFreePorts } from "../engines/ports.ts";
import { isAlive, processTable } from "../engines/process-table.ts";
import { Processes, until } from "../engines/processes.ts";
import { engineEnvironment, engineFolder, runsFolder } from "../runner/run-folder.ts";

const here = import.meta.dirname;
const node = process.execPath;
const forever = "setInterval(() => {}, 1e6);";

describe("processes", () => {
  let processes: Processes;

  beforeEach(() => {
    processes = new Processes("processes");
  });
  afterEach(() => processes.stopAll());

  const run = (name: string, script: string) => processes.start(name, node, ["-e", script]);

  it("fail a wait at once when one of them ends, with the end of its log", async () => {
    run("etcd", `console.error("no space left"); process.exit(3)`);

    const awaited = processes.until("the API server to be ready", async () => false);

    await expect(awaited).rejects.toThrow(/etcd ended with 3 before the API server.*no space left/s);
  });

  it("start again on another port when a port was taken meanwhile", async () => {
    const [taken = 0] = await freePorts(1);
    const other = createServer().listen(taken, "127.0.0.1");
    const tried: number[] = [];

    await onFreePorts(1, async ([free = 0]) => {
      tried.push(tried.length === 0 ? taken : free);
      const listen = `createServer().listen(${tried.at(-1)}, "127.0.0.1", () => console.log("serving"))`;
      const server = run("server", `require("node:net").${listen}`);
      const isServing = async () => readFileSync(server.log, "utf8").includes("serving");
      await processes.until("the server to serve", isServing).catch(async (error: unknown) => {
        await processes.stop(server);
        throw error;
      });
    });

    other.close();
    expect(tried).toHaveLength(2);
  });

  it("do not see the user's keys, profiles and clusters", () => {
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
});

describe("engines end with the process that started them", () => {
  const parent = `
    const { Processes } = await import(${JSON.stringify(join(here, "../engines/processes.ts"))});
    const processes = new Processes("family");
    const { child } = processes.start("child", process.execPath, ["-e", ${JSON.stringify(forever)}]);
    process.on("SIGUSR2", () => { throw new Error("uncaught"); });
    console.log(child.pid);
    ${forever}`;

  it.each([
    ["SIGINT", "SIGINT"],
    ["SIGTERM", "SIGTERM"],
    ["SIGHUP", "SIGHUP"],
    ["SIGKILL", "SIGKILL"],
    // An uncaught error.
    ["SIGUSR2", 1],
  ] as const)("on %s", async (signal, expected) => {
    const family = spawn(node, ["--input-type=module", "-e", parent], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const ended = new Promise((resolve) => family.once("exit", (code, by) => resolve(by ?? code)));
    const child = await new Promise<number>((resolve) =>
      createInterface(family.stdout).once("line", (line) => resolve(Number(line))),
    );

    family.kill(signal);

    await until("the child to end", async () => !isAlive(child));
    expect(await ended).toBe(expected);
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

  it.each(["nonsense", "ground@1.0.8", "karpenter@newest"])(
    "refuses %s, and lists the suites",
    async (name) => {
      const stderr = expect.stringContaining("karpenter@");
      await expect(runner([name])).rejects.toMatchObject({ code: 2, stderr });
    },
  );

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
