import { afterEach, beforeEach, expect, it } from "vitest";
import { EksDoors } from "../../lambda/cluster-access/access-entries.ts";
import type { Rights } from "../../lambda/cluster-access/rules.ts";
import { KubernetesError } from "../../lambda/kubernetes/error.ts";
import { EksStandIn } from "../support/eks-stand-in.ts";
import { MemoryCluster } from "../support/memory-cluster.ts";

const admin = "arn:aws:iam::123456789012:role/admin";
const hold = "arn:aws:iam::123456789012:role/path/hold";
const adminPolicy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy";

let eks: EksStandIn;
let doors: EksDoors;
let pauses: number;

beforeEach(async () => {
  eks = new EksStandIn();
  doors = await doorsOf("prod");
  pauses = 0;
});
afterEach(() => eks.stop());

async function doorsOf(cluster: string): Promise<EksDoors> {
  const client = await eks.start();
  const sleep = async () => {
    pauses++;
  };
  return new EksDoors({ eks: client, cluster, adminRole: admin, rights: new MemoryCluster(), sleep });
}

it("tells a cluster that lets roles in by access entries", async () => {
  for (const mode of ["API", "API_AND_CONFIG_MAP"]) {
    eks.authenticationMode = mode;
    expect(await doors.kind()).toBe("access entries");
  }
});

it("takes a cluster that says nothing of access entries for one without", async () => {
  for (const mode of ["CONFIG_MAP", undefined]) {
    eks.authenticationMode = mode;
    expect(await doors.kind()).toBe("config map");
  }
});

it("tells that a cluster is not there", async () => {
  await eks.stop();
  eks = new EksStandIn();
  expect(await (await doorsOf("gone")).kind()).toBeUndefined();
});

it("lets a role in as a member of our group, and out again, twice over", async () => {
  expect(await doors.admit(hold)).toBe("admitted");
  expect(await doors.admit(hold)).toBe("was in");
  expect(eks.entries.get(hold)?.groups).toEqual(["karpenter-node-holder"]);

  await doors.dismiss(hold);
  await doors.dismiss(hold);
  expect(eks.entries.size).toBe(0);
});

it("puts an entry that somebody changed back into our group", async () => {
  eks.entries.set(hold, { groups: ["others"], policies: new Set() });
  await doors.admit(hold);
  expect(eks.entries.get(hold)?.groups).toEqual(["karpenter-node-holder"]);
});

it("waits until EKS has heard of a role that was just made", async () => {
  eks.unknownFor.set(hold, 3);
  await doors.admit(hold);
  expect(pauses).toBe(3);
  expect(eks.entries.has(hold)).toBe(true);
});

it("is admin while it works and nobody afterwards", async () => {
  let duringWork: ReadonlySet<string> | undefined;
  await doors.asAdmin(async () => {
    duringWork = new Set(eks.entries.get(admin)?.policies);
  });
  expect(duringWork).toEqual(new Set([adminPolicy]));
  expect(eks.takenBack).toEqual([adminPolicy]);
  expect(eks.entries.size).toBe(0);
});

it("is nobody afterwards when the work failed", async () => {
  const work = doors.asAdmin(async () => {
    throw new Error("no disk left");
  });
  await expect(work).rejects.toThrow("no disk left");
  expect(eks.entries.size).toBe(0);
});

it("begins its work again until the cluster knows its admin", async () => {
  const refusals = [401, 403, 403];
  let worked = 0;
  await doors.asAdmin(async (_: Rights) => {
    const status = refusals.shift();
    if (status) throw new KubernetesError(status, "POST /apis", "who are you");
    worked++;
  });
  expect(worked).toBe(1);
  expect(pauses).toBe(3);
});

it("gives up when the cluster never knows it, and is nobody then too", async () => {
  const work = doors.asAdmin(async () => {
    throw new KubernetesError(403, "POST /apis", "who are you");
  });
  await expect(work).rejects.toThrow("who are you");
  expect(eks.entries.size).toBe(0);
});
