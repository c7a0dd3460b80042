import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { CreateTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { CoreV1Api, KubeConfig } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { KubernetesClient } from "../../../lambda/kubernetes/client.ts";
import { isStatus } from "../../../lambda/kubernetes/error.ts";
import { kubeconfigLogin } from "../../../lambda/kubernetes/kubeconfig-login.ts";
import { CollectedMetrics } from "../../../simulator/collected-log.ts";
import { within } from "../../support/context.ts";
import { ControlPlane } from "../engines/control-plane.ts";
import { startDynamoDbLocal } from "../engines/dynamodb-local.ts";
import { isFree } from "../engines/ports.ts";
import { processTable } from "../engines/process-table.ts";
import { until } from "../engines/processes.ts";
import { runsFolder } from "../runner/run-folder.ts";

describe("control planes", () => {
  let one: ControlPlane;
  let other: ControlPlane;

  beforeAll(async () => {
    [one, other] = await Promise.all([ControlPlane.start(), ControlPlane.start()]);
  });
  afterAll(async () => {
    await one?.stop();
    await other?.stop();
  });

  it("run side by side, independent of each other", async () => {
    await one.kubectl(["create", "namespace", "only-here"]);

    await expect(other.kubectl(["get", "namespace", "only-here"])).rejects.toThrow("not found");
  });

  it("allow the holder nothing without a role", async () => {
    const api = one.config("holder").makeApiClient(CoreV1Api);

    await expect(api.listNode()).rejects.toMatchObject({ code: 403 });
  });

  it("restart at the same address with the same data after a crash", async () => {
    await one.kubectl(["create", "namespace", "survivor"]);

    await one.stopApiServer();
    await expect(one.kubectl(["get", "namespaces"])).rejects.toThrow("refused");
    await one.startApiServer();

    expect(await one.kubectl(["get", "namespace", "survivor", "-o", "name"])).toBe("namespace/survivor\n");
  });

  it("answer 403 to everyone while they start; our client waits, and does not report a missing role", async () => {
    await one.kubectl(["create", "clusterrole", "reader", "--verb=list", "--resource=nodes"]);
    await one.kubectl(["create", "clusterrolebinding", "reader", "--clusterrole=reader", "--user=holder"]);
    const client = new KubernetesClient({
      login: kubeconfigLogin(one.config("holder")),
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

    await one.stopApiServer();
    let isBack = false;
    const starting = one.startApiServer().finally(() => {
      isBack = true;
    });
    const refusals: unknown[] = [];
    while (!isBack)
      await list().catch((error: unknown) => isStatus(error, 403) && refusals.push(error.message));
    await starting;

    expect(refusals).toEqual([]);
    expect(await list()).toMatchObject({ kind: "NodeList" });
  });

  it("leave no process", async () => {
    const plane = await ControlPlane.start();
    const port = Number(new URL(plane.server).port);

    await plane.stop();

    await until("its port to be free", () => isFree(port));
  });
});

describe("DynamoDB Local", () => {
  it("keeps tables until it is stopped", async () => {
    const database = await startDynamoDbLocal();
    try {
      const credentials = { accessKeyId: "test", secretAccessKey: "test" };
      const client = new DynamoDBClient({ endpoint: database.endpoint, region: "us-east-1", credentials });
      const key = { AttributeName: "scope" } as const;
      const { TableDescription } = await client.send(
        new CreateTableCommand({
          TableName: "holds",
          AttributeDefinitions: [{ ...key, AttributeType: "S" }],
          KeySchema: [{ ...key, KeyType: "HASH" }],
          BillingMode: "PAY_PER_REQUEST",
        }),
      );
      expect(TableDescription?.TableStatus).toBe("ACTIVE");
    } finally {
      await database.stop();
    }
    await until("its port to be free", () => isFree(Number(new URL(database.endpoint).port)));
  });
});

describe("the runner of suites", () => {
  it.each(["SIGINT", "SIGTERM"] as const)("has stopped every engine when it ends by %s", async (signal) => {
    const { runner, ended, ports } = await startRunner();

    runner.kill(signal);

    expect(await ended).toBe(1);
    expect(await Promise.all(ports().map(isFree))).toEqual([true, true]);
  });

  it("leaves no process when it is killed with SIGKILL", async () => {
    const { runner, family } = await startRunner();
    const { all } = await family();
    expect(all.length).toBeGreaterThanOrEqual(6); // the suite, its worker, and an etcd and an API server twice

    runner.kill("SIGKILL");

    await until("all of them to end", async () => !all.some(isAlive), 10_000);
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

  /** A runner with this same suite, started until its first engines serve. */
  async function startRunner() {
    const runner = spawn(process.execPath, [join(import.meta.dirname, "../runner/run.ts"), "engines"], {
      stdio: "ignore",
    });
    onTestFinished(() => void runner.kill());
    const ended = new Promise((resolve) => runner.once("exit", resolve));
    const folder = join(runsFolder, String(runner.pid));
    const ports = () =>
      globSync("control-plane-*/admin.kubeconfig", { cwd: folder }).map((file) => portIn(join(folder, file)));
    const serve = async () =>
      ports().length === 2 && !(await Promise.all(ports().map(isFree))).includes(true);
    await until("its engines to serve", serve);
    const family = async () => {
      const table = await processTable();
      const [suite = 0] = table.filter(({ parent }) => parent === runner.pid).map(({ group }) => group);
      const all = table.filter(({ group }) => group === suite);
      const engine = all.find(({ command }) => command.includes(`--secure-port=${ports()[0]}`));
      return { suite, worker: engine?.parent ?? 0, all: all.map(({ pid }) => pid) };
    };
    return { runner, ended, ports, family };
  }
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function portIn(kubeconfig: string): number {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  return Number(new URL(config.getCurrentCluster()?.server ?? "").port);
}
