import { expect, it } from "vitest";
import { onClusterAccessChanged } from "../../lambda/cluster-access/handler.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { MemoryCluster } from "../support/memory-cluster.ts";

const role = (name: string) => `arn:aws:iam::123456789012:role/${name}`;
const properties = {
  ServiceToken: "arn:aws:lambda:eu-west-1:123456789012:function:provider",
  cluster: "prod",
  holdAnnotation: "karpenter.sh/do-not-disrupt",
  karpenter: "v1",
  principals: [role("hold")],
  adminRole: role("admin"),
  bundle: "0123",
};

function aHandler() {
  const clusters = new Map<string, MemoryCluster>();
  const cluster = (name: string) => {
    const found = clusters.get(name) ?? new MemoryCluster();
    clusters.set(name, found);
    return found;
  };
  const handle = onClusterAccessChanged((name) => ({ entries: cluster(name), log: new CollectedLog() }));
  return { handle, cluster };
}

it("installs on create and keeps one name for one cluster", async () => {
  const { handle, cluster } = aHandler();

  const created = await handle({ RequestType: "Create", ResourceProperties: properties });
  const updated = await handle({
    RequestType: "Update",
    PhysicalResourceId: created.PhysicalResourceId,
    ResourceProperties: { ...properties, holdAnnotation: "example.com/keep" },
    OldResourceProperties: properties,
  });

  expect(updated).toEqual(created);
  expect(cluster("prod").written).toEqual(["example.com/keep"]);
});

it("removes on delete", async () => {
  const { handle, cluster } = aHandler();
  await handle({ RequestType: "Create", ResourceProperties: properties });

  await handle({
    RequestType: "Delete",
    PhysicalResourceId: "cluster-access/prod",
    ResourceProperties: properties,
  });

  expect(cluster("prod").written).toEqual([]);
});

it("installs anew in another cluster, under another name, so that the old one is deleted", async () => {
  const { handle, cluster } = aHandler();

  const moved = await handle({
    RequestType: "Update",
    PhysicalResourceId: "cluster-access/prod",
    ResourceProperties: { ...properties, cluster: "next" },
    OldResourceProperties: properties,
  });

  expect(moved).toEqual({ PhysicalResourceId: "cluster-access/next" });
  expect(cluster("next").written).toEqual([properties.holdAnnotation]);
  expect(cluster("prod").did).toEqual([]);
});

it("names every field of a request it cannot use", async () => {
  const { handle } = aHandler();

  const answer = handle({
    RequestType: "Paint",
    ResourceProperties: { cluster: "prod", principals: ["me"] },
  });

  await expect(answer).rejects.toThrow(/RequestType .*holdAnnotation .*adminRole .*principals\[0\]/);
});
