import { execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { freePorts, isFree, onFreePorts, PortTakenError } from "../engines/ports.ts";
import { processTable } from "../engines/process-table.ts";
import { Processes, until } from "../engines/processes.ts";
import { engineEnvironment, engineFolder } from "../runner/run-folder.ts";

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

  it("are killed when they ignore SIGTERM for longer than the grace period", async () => {
    const ignoring = run("ignoring", `process.on("SIGTERM", () => {}); console.log("up"); ${forever}`);
    await until("it to be up", async () => readFileSync(ignoring.log, "utf8").includes("up"));

    await processes.stop(ignoring, "SIGTERM", 200);

    expect(ignoring.child.signalCode).toBe("SIGKILL");
  });

  it("are stopped in reverse order", async () => {
    const started = ["etcd", "api", "karpenter"].map((name) => run(name, forever));
    const gone: string[] = [];
    for (const { name, child } of started) child.once("exit", () => gone.push(name));

    await processes.stopAll();

    expect(gone).toEqual(["karpenter", "api", "etcd"]);
  });

  it("fail a wait at once when one of them ends, with the end of its log", async () => {
    run("etcd", `console.error("no space left"); process.exit(3)`);

    const awaited = processes.until("the API server to be ready", async () => false);

    await expect(awaited).rejects.toThrow(/etcd ended with 3 before the API server.*no space left/s);
  });

  it("name the condition when a wait times out", async () => {
    await expect(until("rain", async () => false, 50, 10)).rejects.toThrow("without success for rain");
  });

  it("do not see the user's keys, profiles and clusters", () => {
    const mine = {
      AWS_PROFILE: "production",
      AWS_SESSION_TOKEN: "secret",
      KUBECONFIG: "/home/me/.kube/config",
    };
    const before = { ...process.env };
    Object.assign(process.env, mine);

    const seen = engineEnvironment("/folder");

    process.env = before;
    expect(Object.keys(seen)).not.toEqual(expect.arrayContaining(["AWS_PROFILE"]));
    expect(Object.values(seen)).not.toEqual(expect.arrayContaining(["secret"]));
    expect(seen.KUBECONFIG).toBeUndefined();
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

  it.each(["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"] as const)("on %s", async (signal) => {
    const family = await startFamily();

    family.parent.kill(signal);

    await until("the child to end", async () => !isAlive(family.child));
    expect(await family.ended).toBe(signal);
  });

  it("on an uncaught error", async () => {
    const family = await startFamily();

    family.parent.kill("SIGUSR2");

    await until("the child to end", async () => !isAlive(family.child));
    expect(await family.ended).toBe(1);
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

  async function startFamily() {
    const started = spawn(node, ["--input-type=module", "-e", parent], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const ended = new Promise<number | string | null>((resolve) =>
      started.once("exit", (code, signal) => resolve(signal ?? code)),
    );
    const child = await new Promise<number>((resolve) =>
      createInterface(started.stdout).once("line", (line) => resolve(Number(line))),
    );
    return { parent: started, child, ended };
  }
});

describe("ports", () => {
  it("differ from each other and are free", async () => {
    const ports = await freePorts(20);

    expect(new Set(ports).size).toBe(20);
    expect(await Promise.all(ports.map(isFree))).not.toContain(false);
  });

  it("are replaced when another process took one", async () => {
    const processes = new Processes("ports");
    const [taken = 0] = await freePorts(1);
    const other = createServer().listen(taken, "127.0.0.1");
    const tried: number[] = [];

    await onFreePorts(1, async ([free = 0]) => {
      const port = tried.length === 0 ? taken : free;
      tried.push(port);
      await serve(processes, port);
    });

    other.close();
    await processes.stopAll();
    expect(tried).toHaveLength(2);
  });

  it("are tried a limited number of times", async () => {
    let tries = 0;
    const start = async () => {
      tries += 1;
      throw new PortTakenError("taken");
    };

    await expect(onFreePorts(1, start, 3)).rejects.toThrow("taken");
    expect(tries).toBe(3);
  });

  async function serve(processes: Processes, port: number): Promise<void> {
    const script = `require("node:net").createServer().listen(${port}, "127.0.0.1", () => console.log("serving"))`;
    const server = processes.start("server", node, ["-e", script]);
    try {
      const isServing = async () => readFileSync(server.log, "utf8").includes("serving");
      await processes.until("the server to serve", isServing);
    } catch (error) {
      await processes.stop(server);
      throw error;
    }
  }
});

describe("the runner of suites", () => {
  const runner = (...args: string[]) => promisify(execFile)(node, [join(here, "../runner/run.ts"), ...args]);

  it("lists the suites in its help", async () => {
    expect((await runner("--help")).stdout).toMatch(/^ {2}ground$/m);
  });

  it.each(["nonsense", "ground@1.0.8", "karpenter@newest"])(
    "refuses %s, and lists the suites",
    async (name) => {
      await expect(runner(name)).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringContaining("karpenter@"),
      });
    },
  );

  it("runs nothing on the user's own cluster without asking", async () => {
    const kubeconfig = join(engineFolder("own"), "kubeconfig");
    const cluster = { server: "https://production.example.com" };
    const context = { cluster: "production", user: "me" };
    const config = {
      clusters: [{ name: "production", cluster }],
      users: [{ name: "me", user: { token: "secret" } }],
      contexts: [{ name: "production", context }],
      "current-context": "production",
    };
    writeFileSync(kubeconfig, JSON.stringify(config));

    const env = { ...process.env, KUBECONFIG: kubeconfig };
    const running = promisify(execFile)(node, [join(here, "../runner/run.ts"), "contracts"], { env });

    await expect(running).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining(cluster.server) });
  });

  it("reports a kubeconfig that does not exist", async () => {
    const env = { ...process.env, KUBECONFIG: "/nowhere/kubeconfig" };

    const running = promisify(execFile)(node, [join(here, "../runner/run.ts"), "contracts"], { env });

    await expect(running).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^KUBECONFIG: .*nowhere/),
    });
  });

  it("fails for each suite that cannot be built, with the cause", async () => {
    const folder = mkdtempSync(join(engineFolder("bare"), "build-"));
    const env = { PATH: "/nowhere", KNH_BUILD: folder };

    const running = promisify(execFile)(node, [join(here, "../runner/run.ts"), "access", "template"], {
      env,
    });

    const why = expect.stringMatching(/python3 was not found.*go was not found/s);
    await expect(running).rejects.toMatchObject({ code: 1, stdout: "0 passed, 2 failed\n", stderr: why });
  });

  it("names a missing program, and where to get it", async () => {
    const script = `await (await import(${JSON.stringify(join(here, "../engines/build.ts"))})).buildControlPlane()`;
    const folder = mkdtempSync(join(engineFolder("empty"), "build-"));
    const env = { PATH: "/nowhere", KNH_BUILD: folder };

    const building = promisify(execFile)(node, ["--input-type=module", "-e", script], { env });

    await expect(building).rejects.toMatchObject({ stderr: expect.stringContaining("go.dev/dl") });
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
