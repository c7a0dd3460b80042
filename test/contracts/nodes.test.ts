import { describe } from "vitest";
import { FakeKubernetesServer } from "../../simulator/fake-kubernetes/fake-kubernetes-server.ts";
import { clientOf, clusterNodesWorld } from "./cluster-nodes.ts";
import { nodeEventsContract } from "./node-events.ts";
import { nodesContract } from "./nodes.ts";
import { nodesApiContract } from "./nodes-api.ts";
import type { NodesOptions, NodesWorld } from "./nodes-world.ts";

async function standInWorld(options: NodesOptions): Promise<NodesWorld> {
  const standIn = await FakeKubernetesServer.start();
  const world = await clusterNodesWorld(standIn.access(), standIn.access(), options);
  const close = async () => {
    await world.close();
    await standIn.stop();
  };
  return { ...world, close };
}

describe("nodes of the stand-in", () => {
  nodesContract(standInWorld);
  nodesApiContract(async () => {
    const standIn = await FakeKubernetesServer.start();
    return { access: standIn.access(), close: () => standIn.stop() };
  });
  nodeEventsContract(async () => {
    const standIn = await FakeKubernetesServer.start();
    const client = clientOf(standIn.access());
    const close = async () => {
      await client.close();
      await standIn.stop();
    };
    return { admin: client, holder: client, close };
  });
});
