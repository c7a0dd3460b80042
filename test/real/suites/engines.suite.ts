import { spawn } from "node:child_process";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { KubernetesClient } from "../../../lambda/kubernetes/client.ts";
import { isStatus } from "../../../lambda/kubernetes/error.ts";
import { kubeconfigLogin } from "../../../local/run/kubeconfig-login.ts";
import { CollectedMetrics } from "../../../simulator/collected-log.ts";
import { within } from "../../support/context.ts";
import { ControlPlane } from "../engines/control-plane.ts";
import { isAlive, processTable } from "../engines/process-table.ts";
import { until } from "../engines/processes.ts";
import { runsFolder } from "../runner/run-folder.ts";

describe("a control plane", () => {
  let plane: ControlPlane;

  beforeAll(async () => {
    plane = await ControlPlane.start();
  });
  afterAll(async () => plane?.stop());

  it("answers 403 to everyone while it starts; our client waits, and does not report a missing role", async () => {
    await plane.kubectl(["create", "clusterrole", "reader", "--verb=list", "--resource=nodes"]);
    await plane.kubectl(["create", "clusterrolebinding", "reader", "--clusterrole=reader", "--user=holder"]);
    const client = new KubernetesClient({
      login: kubeconfigLogin(plane.config("holder")),
      clock: { now: () => new Date() },
      metrics: new CollectedMetrics(),
      sleep: () => setTimeout(10),
    });
    const list = () => client.call({ method: "GET", path: "/api/v1/nodes" }, within(30_000));
    onTestFinished(() => client.close());
    await until("the role to take effect", () =>
      list().then(
        () => true,
        () => false,
      ),
    );

    await plane.stopApiServer();
    let isBack = false;
    const starting = plane.startApiServer().finally(() => {
      isBack = true;
    });
    const refusals: unknown[] = [];
    while (!isBack)
      await list().catch((error: unknown) => isStatus(error, 403) && refusals.push(error.message));
    await starting;

    expect(refusals).toEqual([]);
    expect(await list()).toMatchObject({ kind: "NodeList" });
  });
});

describe("the runner of suites", () => {
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

  /** A runner with this same suite, started until its first engines run. */
  async function startRunner() {
    const runner = spawn(process.execPath, [join(import.meta.dirname, "../runner/run.ts"), "engines"], {
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
