import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import type { TestContext } from "vitest";
import { folderOf } from "../../cli/control/running.ts";
import { holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { parseNode } from "../../lambda/kubernetes/node-objects.ts";
import { readSettings } from "../../lambda/settings.ts";
import { startRun } from "../../local/run/run.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { FakeKubernetesServer } from "../../simulator/fake-kubernetes/fake-kubernetes-server.ts";

const { poolLabel, registeredLabel } = Karpenter.v1;

/** A cluster with one old node. */
export async function aCluster(test: TestContext) {
  const server = await FakeKubernetesServer.start();
  test.onTestFinished(() => server.stop());
  const labels = { [poolLabel]: "default", [registeredLabel]: "true" };
  server.addNode({ name: "a", labels, providerId: "kwok://a", joinedAt: new Date(0) });
  return server;
}

/** A `run` of a cluster with one old node, in the default folder of its address below `data`, and a kubeconfig for it. */
export async function start(test: TestContext, data: string, cluster = "prod") {
  const server = await aCluster(test);
  const file = join(data, `${cluster}.yaml`);
  writeFileSync(file, server.kubeconfig());
  const config = new KubeConfig();
  config.loadFromString(server.kubeconfig());
  const address = config.getCurrentCluster()?.server ?? "";
  const folder = folderOf(cluster, address, { XDG_DATA_HOME: data });
  const settings = readSettings({ cluster });
  const running = await startRun({ settings, config, folder, log: new CollectedLog() });
  let stopped: Promise<unknown> | undefined;
  const stop = () => (stopped ??= running.stop());
  test.onTestFinished(async () => void (await stop()));
  const held = () => server.nodes().map((node) => parseNode(node).labels?.[holdLabel] !== undefined);
  return { folder, held, stop, file, context: config.getCurrentContext() };
}
