import { EC2Client } from "@aws-sdk/client-ec2";
import { afterEach, describe, expect, it } from "vitest";
import { ec2Defaults } from "../../lambda/aws/clients.ts";
import { Ec2Launches } from "../../lambda/aws/ec2-launches.ts";
import { after, minutes } from "../../lambda/core/duration.ts";
import { BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { type AwsAnswer, type FakeAws, fakeAws } from "../support/fake-aws.ts";

const owned = { "kubernetes.io/cluster/prod": "owned" };
const v1 = { ...owned, "karpenter.sh/nodepool": "batch", "eks:eks-cluster-name": "prod" };
const autoMode = { "eks:eks-cluster-name": "prod", "eks:kubernetes-node-pool-name": "general-purpose" };
const v031 = { ...owned, "karpenter.sh/provisioner-name": "old" };

type DescribedInstance = Readonly<{
  id: string;
  launchedAt?: Date | null;
  tags?: Readonly<Record<string, string>>;
  state?: "pending" | "running" | null;
}>;

/** DescribeInstances' answer as EC2 writes it. */
function described(instances: readonly DescribedInstance[], nextToken = ""): AwsAnswer {
  const items = instances.map(({ id, launchedAt = noon, tags, state = "running" }) => {
    const tagItems = Object.entries(tags ?? {}).map(
      ([k, v]) => `<item><key>${k}</key><value>${v}</value></item>`,
    );
    const tagSet = tags && `<tagSet>${tagItems.join("")}</tagSet>`;
    const launchTime = launchedAt && `<launchTime>${launchedAt.toISOString()}</launchTime>`;
    const stateName = state && `<instanceState><name>${state}</name></instanceState>`;
    const instance = `<instanceId>${id}</instanceId>${stateName ?? ""}${launchTime ?? ""}${tagSet ?? ""}`;
    return `<item><instancesSet><item>${instance}</item></instancesSet></item>`;
  });
  const token = nextToken && `<nextToken>${nextToken}</nextToken>`;
  const set = `<reservationSet>${items.join("")}</reservationSet>${token}`;
  return {
    body: `<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">${set}</DescribeInstancesResponse>`,
  };
}

const failed = (code: string, status: number): AwsAnswer => ({
  status,
  body: `<Response><Errors><Error><Code>${code}</Code><Message>no</Message></Error></Errors></Response>`,
});

let aws: FakeAws;
afterEach(() => aws.close());

async function launches(answer: (count: number) => AwsAnswer, maxAttempts = 1) {
  aws = await fakeAws((_, count) => answer(count));
  return new Ec2Launches(new EC2Client({ ...aws.client, maxAttempts }), "prod");
}

/** The filters of each request, by name. */
const asked = () =>
  aws.requests.map(({ body }) => {
    const form = new URLSearchParams(body);
    const values = (n: number) =>
      [...form].filter(([key]) => key.startsWith(`Filter.${n}.Value.`)).map(([, v]) => v);
    const names = [...form].filter(([key]) => /^Filter\.\d+\.Name$/.test(key));
    const filters = names.map(([key, name]) => [name, values(Number(key.split(".")[1]))]);
    return { form, filters: Object.fromEntries(filters) as Record<string, string[]> };
  });

describe("instances that events name", () => {
  it("are requested by filter, so that an unknown instance is not an error", async () => {
    const port = await launches(() => described([]));
    expect(await port.find(["i-1", "i-2"])).toEqual(new Map());
    const [request] = asked();
    expect(request?.filters).toEqual({ "instance-id": ["i-1", "i-2"] });
    expect([...(request?.form.keys() ?? [])].some((key) => key.startsWith("InstanceId"))).toBe(false);
  });

  it("are Karpenter's by their tags, for every generation", async () => {
    const port = await launches(() =>
      described([
        { id: "i-1", tags: v1 },
        { id: "i-2", tags: v031 },
        { id: "i-3", tags: owned },
        { id: "i-4", tags: { ...v1, "kubernetes.io/cluster/prod": "shared" } },
        { id: "i-5", tags: { "kubernetes.io/cluster/other": "owned", "karpenter.sh/nodepool": "batch" } },
        { id: "i-6" },
      ]),
    );
    const found = await port.find(["i-1", "i-2", "i-3", "i-4", "i-5", "i-6"]);
    expect([...found.values()]).toEqual([
      { id: "i-1", launchedAt: noon, nodePool: "batch" },
      { id: "i-2", launchedAt: noon, nodePool: "old" },
      ...["i-3", "i-4", "i-5", "i-6"].map((id) => ({ id, launchedAt: noon })),
    ]);
  });

  it("are EKS Auto Mode's too, and are found although EKS manages them", async () => {
    const port = await launches(() =>
      described([
        { id: "i-1", tags: autoMode },
        { id: "i-2", tags: { ...autoMode, "eks:eks-cluster-name": "other" } },
        { id: "i-3", tags: { "eks:eks-cluster-name": "prod" } },
      ]),
    );
    const found = [...(await port.find(["i-1", "i-2", "i-3"])).values()];
    expect(found.map(({ nodePool }) => nodePool)).toEqual(["general-purpose", undefined, undefined]);
    expect(asked()[0]?.form.get("IncludeManagedResources")).toBe("true");
  });

  it("are unknown as long as they are pending and EC2 returns no tags for them", async () => {
    const port = await launches(() =>
      described([
        { id: "i-1", state: "pending" },
        { id: "i-2", state: "pending", tags: {} },
        { id: "i-3", state: "pending", tags: v1 },
        { id: "i-4", state: "running" },
        { id: "i-5", state: null },
      ]),
    );
    const found = await port.find(["i-1", "i-2", "i-3", "i-4", "i-5"]);
    expect([...found.keys()]).toEqual(["i-3", "i-4", "i-5"]);
  });

  it("are asked for once each, 200 at a time", async () => {
    const port = await launches((count) => described([{ id: `i-${count}`, tags: v1 }]));
    const ids = Array.from({ length: 450 }, (_, n) => `i-${n}`);
    expect((await port.find([...ids, ...ids])).size).toBe(3);
    expect(asked().map(({ filters }) => filters["instance-id"]?.length)).toEqual([200, 200, 50]);
  });

  it("are not asked for by names that no instance has, and cost no call when there are none", async () => {
    const port = await launches(() => described([]));
    await port.find(["node-1", "i-1", "i-1", ""]);
    await port.find([]);
    expect(asked().map(({ filters }) => filters["instance-id"])).toEqual([["i-1"]]);
  });

  it("are unknown without a time of launch", async () => {
    const port = await launches(() => described([{ id: "i-1", launchedAt: null, tags: v1 }, { id: "i-2" }]));
    expect([...(await port.find(["i-1", "i-2"])).keys()]).toEqual(["i-2"]);
  });

  it("are found on every page", async () => {
    const port = await launches((count) =>
      described([{ id: `i-${count}`, tags: v1 }], count < 3 ? `more-${count}` : ""),
    );
    expect([...(await port.find(["i-1", "i-2", "i-3"])).keys()]).toEqual(["i-1", "i-2", "i-3"]);
    expect(asked().map(({ form }) => form.get("NextToken"))).toEqual([null, "more-1", "more-2"]);
  });

  it("are found even when EC2 repeats the token of a page", async () => {
    const port = await launches(() => described([{ id: "i-1" }], "the-same"));
    expect((await port.find(["i-1"])).size).toBe(1);
    expect(asked()).toHaveLength(2);
  });
});

describe("launches since a moment", () => {
  it("are of this cluster, of every generation, and not terminated", async () => {
    const port = await launches(() => described([]));
    await port.since(noon);
    const states = { "instance-state-name": ["pending", "running"] };
    expect(asked().map(({ filters }) => filters)).toEqual([
      {
        "tag:kubernetes.io/cluster/prod": ["owned"],
        "tag-key": ["karpenter.sh/nodepool", "karpenter.sh/provisioner-name"],
        ...states,
      },
      { "tag:eks:eks-cluster-name": ["prod"], "tag-key": ["eks:kubernetes-node-pool-name"], ...states },
    ]);
  });

  it("are returned once, also with the tags of Karpenter and of EKS Auto Mode", async () => {
    const port = await launches(() => described([{ id: "i-1", tags: { ...autoMode, ...v1 } }]));
    expect(await port.since(noon)).toEqual([{ instance: "i-1", launchedAt: noon, nodePool: "batch" }]);
  });

  it("exclude instances with the name of no NodePool", async () => {
    const port = await launches(() => described([{ id: "i-1", tags: owned }]));
    expect(await port.since(noon)).toEqual([]);
  });

  it("exclude earlier launches", async () => {
    const earlier = { id: "i-1", tags: v1, launchedAt: after(noon, -1_000) };
    const pages = [
      described([earlier, { id: "i-2", tags: v1 }], "more"),
      described([{ id: "i-3", tags: v031, launchedAt: after(noon, minutes(1)) }]),
    ];
    const port = await launches((count) => pages[count - 1] ?? described([]));
    expect(await port.since(noon)).toEqual([
      { instance: "i-2", launchedAt: noon, nodePool: "batch" },
      { instance: "i-3", launchedAt: after(noon, minutes(1)), nodePool: "old" },
    ]);
  });
});

describe("errors", () => {
  it.each(["find", "since"] as const)(
    "are transient when EC2 takes too long: %s has a time limit",
    async (what) => {
      // One page after the other, for ever.
      aws = await fakeAws((_, count) => described([], `page-${count}`));
      const port = new Ec2Launches(new EC2Client(aws.client), "prod", 200);
      const asking = what === "find" ? port.find(["i-1"]) : port.since(noon);
      await expect(asking).rejects.toThrow(TryAgainError);
      await expect(asking).rejects.toThrow(/did not describe the instances within/);
      await expect(asking).rejects.toMatchObject({ cause: { name: "AbortError" } });
    },
  );

  it("are a broken set-up when the role lacks a permission, which the error names", async () => {
    const port = await launches(() => failed("UnauthorizedOperation", 403));
    const asking = port.since(noon);
    await expect(asking).rejects.toThrow(BrokenSetupError);
    await expect(asking).rejects.toThrow(/^Cannot describe instances: .*ec2:DescribeInstances/);
  });
});

it("slows down by itself where EC2 throttles, because Karpenter takes from the same budget", async () => {
  const { config } = new EC2Client({ ...ec2Defaults, region: "eu-west-1" });
  expect(await config.retryStrategy()).toMatchObject({ mode: "adaptive" });
});
