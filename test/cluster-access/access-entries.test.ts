import { afterEach, beforeEach, expect, it } from "vitest";
import { EksAccessEntries } from "../../lambda/cluster-access/access-entries.ts";
import { EksStandIn } from "../support/eks-stand-in.ts";
import { MemoryCluster } from "../support/memory-cluster.ts";

const admin = "arn:aws:iam::123456789012:role/admin";
const hold = "arn:aws:iam::123456789012:role/path/hold";
const adminPolicy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy";

let eks: EksStandIn;
let entries: EksAccessEntries;
let pauses: number;

beforeEach(async () => {
  eks = new EksStandIn();
  entries = await entriesOf("prod");
  pauses = 0;
});
afterEach(() => eks.stop());

async function entriesOf(cluster: string, inVpc = false): Promise<EksAccessEntries> {
  const client = await eks.start();
  const sleep = async () => {
    pauses++;
  };
  return new EksAccessEntries({
    eks: client,
    cluster,
    adminRole: admin,
    rights: new MemoryCluster(),
    inVpc,
    sleep,
  });
}

it("tells a cluster that lets roles in by access entries", async () => {
  for (const mode of ["API", "API_AND_CONFIG_MAP"]) {
    eks.authenticationMode = mode;
    expect(await entries.kind()).toBe("access entries");
  }
});

it("takes a cluster that says nothing of access entries for one without", async () => {
  for (const mode of ["CONFIG_MAP", undefined]) {
    eks.authenticationMode = mode;
    expect(await entries.kind()).toBe("config map");
  }
});

it("tells that a cluster is not there", async () => {
  await eks.stop();
  eks = new EksStandIn();
  expect(await (await entriesOf("gone")).kind()).toBeUndefined();
});

it("lets a role in as a member of our group, and out again, twice over", async () => {
  expect(await entries.admit(hold)).toBe("admitted");
  expect(await entries.admit(hold)).toBe("was in");
  expect(eks.entries.get(hold)?.groups).toEqual(["karpenter-node-holder"]);

  await entries.dismiss(hold);
  await entries.dismiss(hold);
  expect(eks.entries.size).toBe(0);
});

it("puts an entry that somebody changed back into our group", async () => {
  eks.entries.set(hold, { groups: ["others"], policies: new Set() });
  await entries.admit(hold);
  expect(eks.entries.get(hold)?.groups).toEqual(["karpenter-node-holder"]);
});

it("waits until EKS has heard of a role that was just made", async () => {
  eks.unknownFor.set(hold, 3);
  await entries.admit(hold);
  expect(pauses).toBe(3);
  expect(eks.entries.has(hold)).toBe(true);
});

it("is admin while it works and nobody afterwards", async () => {
  let duringWork: ReadonlySet<string> | undefined;
  await entries.asAdmin(async () => {
    duringWork = new Set(eks.entries.get(admin)?.policies);
  });
  expect(duringWork).toEqual(new Set([adminPolicy]));
  expect(eks.takenBack).toEqual([adminPolicy]);
  expect(eks.entries.size).toBe(0);
});

it("is nobody afterwards when the work failed", async () => {
  const work = entries.asAdmin(async () => {
    throw new Error("no disk left");
  });
  await expect(work).rejects.toThrow("no disk left");
  expect(eks.entries.size).toBe(0);
});

it("retries while other calls do not know an entry that was created just now", async () => {
  eks.entriesUnknownFor = 2;
  let policies: ReadonlySet<string> | undefined;
  await entries.asAdmin(async () => {
    policies = new Set(eks.entries.get(admin)?.policies);
  });
  expect(policies).toEqual(new Set([adminPolicy]));
  expect(pauses).toBe(2);
  expect(eks.entries.size).toBe(0);
});

it("removes an entry that was created just now though the first calls do not know it", async () => {
  eks.entriesUnknownFor = 3;
  await entries.admit(hold);
  await entries.dismiss(hold);
  expect(eks.entries.size).toBe(0);
});

it("updates an entry that an earlier invocation created just now", async () => {
  eks.entriesUnknownFor = 2;
  await entries.admit(hold);
  expect(await entries.admit(hold)).toBe("was in");
  expect(pauses).toBe(2);
});

it.each([
  ["a public endpoint", { endpointPublicAccess: true, publicAccessCidrs: ["0.0.0.0/0"] }],
  ["no word on its endpoint", {}],
])("reaches a cluster with %s", async (_, config) => {
  eks.vpcConfig = config;
  expect(await entries.whyUnreachable()).toBeUndefined();
});

it.each([
  ["for some addresses", { endpointPublicAccess: true, publicAccessCidrs: ["203.0.113.0/24"] }],
  ["inside its VPC", { endpointPublicAccess: false, publicAccessCidrs: ["0.0.0.0/0"] }],
])("names the setting vpc where the endpoint answers only %s, unless it is in a VPC", async (_, config) => {
  eks.vpcConfig = config;
  expect(await entries.whyUnreachable()).toMatch(/in no VPC: cdk deploy -c cluster=prod -c vpc=/);
  await eks.stop();
  expect(await (await entriesOf("prod", true)).whyUnreachable()).toBeUndefined();
});
