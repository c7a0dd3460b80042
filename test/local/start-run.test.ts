import { KubeConfig } from "@kubernetes/client-node";
import { expect, it } from "vitest";
import { after, hours } from "../../lambda/core/duration.ts";
import { holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { readSettings } from "../../lambda/settings.ts";
import { startRun } from "../../local/run/run.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { FakeKubernetesServer } from "../../simulator/fake-kubernetes/fake-kubernetes-server.ts";
import { newFolder } from "../support/new-folder.ts";

const { annotation, poolLabel, registeredLabel } = Karpenter.v1;

it("warns of nodes that another holder holds, because its first sweep releases them", async (test) => {
  const cluster = await FakeKubernetesServer.start();
  test.onTestFinished(() => cluster.stop());
  const theirs = { [poolLabel]: "default", [registeredLabel]: "true", [holdLabel]: "20260131t093000-k3f9ax" };
  cluster.addNode({
    name: "theirs",
    labels: theirs,
    annotations: { [annotation]: "true" },
    providerId: "kwok://theirs",
    joinedAt: after(new Date(), -hours(2)),
  });
  const config = new KubeConfig();
  config.loadFromString(cluster.kubeconfig());
  const log = new CollectedLog();
  const folder = newFolder();

  const running = await startRun({ settings: readSettings({ cluster: "prod" }), config, folder, log });
  await running.stop();

  const warning = "nodes held by a holder with another record are released: is one deployed?";
  expect(log.reported(warning)).toEqual([{ nodes: 1 }]);
  expect(cluster.annotationHistory("theirs", annotation)).toEqual(["true", undefined]);
});
