import { beforeEach, describe, expect, it } from "vitest";
import { accessManifest, clusterRoleBindingPath } from "../../lambda/cluster-access/manifest.ts";
import { AccessWorld } from "./access-world.ts";

const present = "karpenter.sh/do-not-disrupt";

let world: AccessWorld;
beforeEach(() => {
  world = new AccessWorld();
});
const request = (RequestType: string) => world.handle({ RequestType });
const install = () => request("Create");
const change = () => request("Update");

describe("in a cluster of another holder", () => {
  const account = { kind: "ServiceAccount", name: "karpenter-node-holder", namespace: "kube-system" };
  const metadata = { name: "karpenter-node-holder", annotations: { "meta.helm.sh/release-name": "holder" } };

  it.each<[string, () => Promise<unknown>]>([
    [
      "a Pod: ServiceAccount karpenter-node-holder in namespace kube-system",
      async () => world.access.all.set(clusterRoleBindingPath, { metadata, subjects: [account] }),
    ],
    [
      "the deployment green",
      async () => {
        world.config = { ...world.config, name: "green" };
        await install();
        world.eks.entries.clear();
        world.config = { ...world.config, name: "blue" };
      },
    ],
  ])("%s, a deployment is refused, and leaves that one's rights and marks", async (other, begin) => {
    await begin();
    world.cluster.addNode({ name: "a" });
    await world.mark("a", present);
    const theirs = () => structuredClone([[...world.access.all], world.nodes]);
    const before = theirs();
    for (const deploy of [install, change])
      await expect(deploy()).rejects.toThrow(
        `cluster prod has another holder already: ClusterRoleBinding karpenter-node-holder names ${other}\nRemove that one first.`,
      );
    expect(theirs()).toEqual(before);
    expect(world.eks.entries.size).toBe(0);
    await request("Delete");
    expect(theirs()).toEqual(before);
  });

  it("an update succeeds and changes nothing where that one has taken the cluster, so that a rollback ends, too", async () => {
    await install();
    const theirs = { metadata, subjects: [account] };
    world.access.all.set(clusterRoleBindingPath, theirs);
    const before = structuredClone([...world.access.all]);
    const update = (cluster: string) =>
      world.handle({ RequestType: "Update", OldResourceProperties: { cluster } });
    await update("prod");
    expect([...world.access.all]).toEqual(before);
    expect(world.admins).toEqual([]);
    expect(world.log.reported("nothing was changed: the cluster has another holder now")).toHaveLength(1);
    await expect(update("former")).rejects.toThrow("cluster prod has another holder already");
  });

  it("is no deployment of before the annotation, whose rights it takes over, nor the same one", async () => {
    for (const { path, object } of accessManifest(present)) world.access.all.set(path, object);
    await change();
    expect(world.access.all.get(clusterRoleBindingPath)).toMatchObject({
      metadata: { annotations: { "karpenter-node-holder/holder": "blue" } },
    });
    await change();
  });
});
