import type { EKSClient } from "@aws-sdk/client-eks";
import { beforeEach, expect, it } from "vitest";
import {
  EksAccessEntries,
  type EksAccessEntriesOptions,
} from "../../lambda/cluster-access/access-entries.ts";
import type { Rights } from "../../lambda/cluster-access/ports.ts";
import { FakeEks } from "./fake-eks.ts";

const admin = "arn:aws:iam::123456789012:role/admin";
const hold = "arn:aws:iam::123456789012:role/path/hold";
const adminPolicy = "arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy";

let eks: FakeEks;
let entries: EksAccessEntries;
let paused: number[];

beforeEach(() => {
  eks = new FakeEks();
  entries = entriesOf({});
  paused = [];
});

/** The rights of an admin in the cluster do not matter here. */
const rights = {} as Rights;

const entriesOf = (options: Partial<EksAccessEntriesOptions>) =>
  new EksAccessEntries({
    eks: eks.client(),
    cluster: "prod",
    adminRole: admin,
    rights,
    inVpc: false,
    clock: { now: () => new Date() },
    workUntil: new Date(Date.now() + 600_000),
    sleep: async (pause) => void paused.push(pause),
    ...options,
  });

it.each([
  ["API", "access entries"],
  ["API_AND_CONFIG_MAP", "access entries"],
  ["CONFIG_MAP", "config map"],
  [undefined, "config map"],
])("finds that a cluster with mode %s authenticates roles by its %s", async (mode, found) => {
  eks.authenticationMode = mode;
  expect(await entries.authentication()).toBe(found);
});

it("creates a role's entry in our group, moves one that was changed back into it, and deletes it", async () => {
  expect(await entries.create(hold)).toBe("created");
  expect(eks.entries.get(hold)?.groups).toEqual(["karpenter-node-holder"]);
  eks.entries.set(hold, { groups: ["others"], policies: new Set() });
  expect(await entries.create(hold)).toBe("existed");
  expect(eks.entries.get(hold)?.groups).toEqual(["karpenter-node-holder"]);

  expect([await entries.delete(hold), await entries.delete(hold)]).toEqual(["deleted", "none"]);
  expect(eks.entries.size).toBe(0);
  expect(paused).toEqual([]);
});

it("leaves a sign that gives no right, and finds it until the admin right is given back", async () => {
  expect(await entries.hasSign()).toBe(false);
  await entries.leaveSign();
  expect(eks.entries.get(admin)).toEqual({ groups: [], policies: new Set() });
  expect(await entries.hasSign()).toBe(true);
  await entries.returnAdminRight();
  expect([await entries.hasSign(), eks.entries.size]).toEqual([false, 0]);
});

it("retries while EKS does not know a new role", async () => {
  eks.unknownFor.set(hold, 3);
  await entries.create(hold);
  expect(paused).toHaveLength(3);
  expect(eks.entries.has(hold)).toBe(true);
});

it("gives up after two minutes when EKS never knows a role", async () => {
  eks.unknownFor.set(hold, 99);
  await expect(entries.create(hold)).rejects.toMatchObject({ name: "InvalidParameterException" });
  expect(paused).toEqual(Array(39).fill(3_000));
});

it("takes an entry for gone that no call knows half a minute after it was created", async () => {
  eks.entriesUnknownFor = 99;
  await entries.create(hold);
  await entries.delete(hold);
  expect(paused).toEqual(Array(9).fill(3_000));
});

const refusal = (name: string) => Object.assign(new Error("no"), { name });
const refusing = (error: Error, options: Partial<EksAccessEntriesOptions> = {}) =>
  entriesOf({ ...options, eks: { send: () => Promise.reject(error) } as unknown as EKSClient });

it("reports an error of EKS at once", async () => {
  const error = refusal("ServerException");
  const refused = refusing(error);
  for (const call of [
    () => refused.authentication(),
    () => refused.whyUnusable(),
    () => refused.create(hold),
    () => refused.delete(hold),
    () => refused.returnAdminRight(),
  ])
    await expect(call()).rejects.toBe(error);
  await expect(refused.asAdmin(async () => {})).rejects.toMatchObject({ errors: [error, error] });
  expect(paused).toEqual([]);
});

it.each<[string, (entries: EksAccessEntries) => Promise<unknown>]>([
  ["to find the cluster", (entries) => entries.whyUnusable()],
  ["to let a role in", (entries) => entries.create(hold)],
  ["to be an admin", (entries) => entries.asAdmin(async () => {})],
])("retries a denial %s: rights of a new role come late, and entries, too", async (_, work) => {
  eks.deniedFor = 3;
  await work(entries);
  expect(paused).toHaveLength(3);
});

it("reports a denial that lasts two minutes, and from then on at once, as for an entry that it did not create", async () => {
  const error = refusal("AccessDeniedException");
  let now = Date.now();
  const sleep = async (pause: number) => {
    now += pause;
    paused.push(pause);
  };
  const denied = refusing(error, { clock: { now: () => new Date(now) }, sleep });
  await expect(denied.delete(hold)).rejects.toBe(error);
  expect(paused).toEqual([]);
  await expect(denied.authentication()).rejects.toBe(error);
  await expect(denied.create(hold)).rejects.toBe(error);
  expect(paused).toHaveLength(40);
});

it.each(["aws", "aws-cn"])(
  "is admin of the whole cluster, by the policy of partition %s",
  async (partition) => {
    const adminRole = `arn:${partition}:iam::123456789012:role/admin`;
    await entriesOf({ adminRole }).asAdmin(async () => {});
    const policyArn = `arn:${partition}:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy`;
    expect(eks.sent).toMatchObject([
      { principalArn: adminRole, type: "STANDARD", kubernetesGroups: [] },
      { policyArn, accessScope: { type: "cluster" } },
    ]);
  },
);

it.each([0, 2])(
  "is admin while it works and not afterwards, though %i calls miss its entry",
  async (calls) => {
    eks.entriesUnknownFor = calls;
    let duringWork: ReadonlySet<string> | undefined;
    await entries.asAdmin(async () => {
      duringWork = new Set(eks.entries.get(admin)?.policies);
    });
    expect(duringWork).toEqual(new Set([adminPolicy]));
    expect(eks.takenBack).toEqual([adminPolicy]);
    expect([eks.entries.size, paused.length]).toEqual([0, calls]);
  },
);

it("is no admin afterwards when the work failed", async () => {
  const work = entries.asAdmin(() => Promise.reject(new Error("no disk left")));
  await expect(work).rejects.toThrow("no disk left");
  expect(eks.entries.size).toBe(0);
});

it("reports why the work failed, also when the admin right cannot be given back", async () => {
  const failing = entries.asAdmin(async () => {
    eks.throttlesRemovals = true;
    throw new Error("no route to the cluster");
  });
  await expect(failing).rejects.toThrow(/^no route to the cluster; Throttling/);
});

it("begins no work that would be late, and is no admin afterwards", async () => {
  const late = entriesOf({ workUntil: new Date(Date.now() - 1) });
  await expect(late.create(hold)).rejects.toThrow("the time for changing the cluster is over");
  await expect(late.asAdmin(async () => {})).rejects.toThrow("the time for changing the cluster is over");
  expect(eks.sent).toEqual([]);
});

it("names what its subnets need where EKS does not answer, but not outside of a VPC", async () => {
  eks.isUnreachable = true;
  await expect(entriesOf({ inVpc: true }).authentication()).rejects.toThrow(
    /^EKS did not answer from the function's subnets: .*\n.*NAT gateway.*com\.amazonaws\.eu-west-1\.eks$/,
  );
  await expect(entries.authentication()).rejects.toThrow(/^socket timed out$/);
});

it("gives back an admin right that a killed invocation left, and is done where there is none", async () => {
  eks.entries.set(admin, { groups: [], policies: new Set([adminPolicy]) });
  await entries.returnAdminRight();
  await entries.returnAdminRight();
  expect(eks.entries.size).toBe(0);
});

it("removes an entry that was created just now though the first calls are denied or do not know it", async () => {
  eks.entriesUnknownFor = 3;
  await entries.create(hold);
  eks.deniedFor = 2;
  expect(await entries.delete(hold)).toBe("deleted");
  expect(eks.entries.size).toBe(0);
});

it("updates an entry that an earlier invocation created just now", async () => {
  eks.entriesUnknownFor = 2;
  await entries.create(hold);
  expect(await entries.create(hold)).toBe("existed");
  expect(paused).toHaveLength(2);
});

it("names the setting vpc where the endpoint is closed to it, unless it is in a VPC", async () => {
  eks.vpcConfig = { endpointPublicAccess: false };
  expect(await entries.whyUnusable()).toMatch(/private endpoint only.*\nDeploy with the setting vpc=/);
  expect(await entriesOf({ inVpc: true }).whyUnusable()).toBeUndefined();
});
