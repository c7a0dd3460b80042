import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import { readConfig } from "../../lambda/environment.ts";
import { wire } from "../../lambda/wiring.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aHeldRecord, aRecord } from "../support/builders.ts";
import { within } from "../support/context.ts";
import { type AwsRequest, type FakeAws, fakeAws, json, jsonError } from "../support/fake-aws.ts";

let aws: FakeAws;
const isPutEvents = ({ headers }: AwsRequest) => headers["x-amz-target"] === "AWSEvents.PutEvents";
beforeAll(async () => {
  aws = await fakeAws((request) =>
    isPutEvents(request)
      ? json({ FailedEntryCount: 0, Entries: [] })
      : jsonError("ValidationException", "nothing is right here"),
  );
  const env = {
    AWS_ENDPOINT_URL: aws.client.endpoint,
    AWS_REGION: "eu-west-1",
    AWS_ACCESS_KEY_ID: "fake",
    AWS_SECRET_ACCESS_KEY: "fake",
    HOLD_TABLE: "holds",
    LAUNCH_QUEUE_URL: `${aws.client.endpoint}/123456789012/launches`,
    SCHEDULE_GROUP: "group",
    SCHEDULE_ROLE_ARN: "arn:aws:iam::123456789012:role/schedules",
    RELEASE_FUNCTION_ARN: "arn:aws:lambda:eu-west-1:123456789012:function:release",
    CLUSTER: "prod",
    // vitest sets it, too.
    MODE: "observe",
    NODE_POOLS: "batch,!gpu",
    KARPENTER: "v0.31",
    HOLD_ANNOTATION: "example.com/keep",
  };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await aws.close();
});

it("times the calls of every port, so that a slow invocation shows what it waited for", async () => {
  const { ports, telemetry, cluster } = wire(readConfig(process.env));
  const soon = within(60_000);

  await Promise.allSettled([
    ports.holds.find("cluster"),
    ports.journal.noteSweep(noon),
    ports.launches.find(["i-0123456789abcdef0"], soon),
    ports.schedules.arm("cluster", holdId(1), after(noon, minutes(20))),
    ports.followUps.enqueue({ kind: "scope", scope: "cluster", isLook: false }, 0),
    cluster.api.call({ method: "GET", path: "/version" }, soon),
  ]);

  expect(Object.keys(telemetry.calls.reported().calls).toSorted()).toEqual([
    ...["CreateSchedule", "DescribeCluster", "DescribeInstances", "GetItem", "Kubernetes GET", "PutItem"],
    "SendMessageBatch",
  ]);
});

it("sends events where the settings ask for them, with the role's credentials", async () => {
  expect(wire(readConfig(process.env)).ports.events).toBeUndefined();
  const { ports, telemetry } = wire(readConfig({ ...process.env, EVENTS: "true" }));
  ports.events?.note({ before: aRecord(), record: aHeldRecord() });

  await telemetry.events?.send(5_000);

  const sent = aws.requests.filter(isPutEvents);
  expect(sent.map(({ headers }) => headers.authorization)).toEqual([
    expect.stringContaining("Credential=fake/"),
  ]);
  expect(Object.keys(telemetry.calls.reported().calls)).toEqual(["PutEvents"]);
});

it("writes Events about nodes where the settings ask for them, and none where it only observes", () => {
  const isWired = (more: object) =>
    "note" in (wire(readConfig({ ...process.env, ...more })).ports.nodeEvents ?? {});
  expect(isWired({ MODE: "hold", NODE_EVENTS: "true" })).toBe(true);
  expect(isWired({ MODE: "hold" })).toBe(false);
  expect(isWired({ NODE_EVENTS: "true" })).toBe(false);
});

it("gives the nodes' adapter the settings", () => {
  const { cluster, ports, inspection } = wire(readConfig(process.env));

  expect(inspection).toHaveProperty("inspect");
  expect(cluster).toMatchObject({
    karpenter: "v0.31",
    annotation: "example.com/keep",
    nodePools: { only: ["batch"], except: ["gpu"] },
  });
  expect(ports.rules).toMatchObject({ cluster: "prod", mode: "observe", nodePools: cluster.nodePools });
});

it("lets the hold function log in to the cluster before its first invocation", async () => {
  const asked = () => aws.requests.filter(({ path }) => path === "/clusters/prod").length;
  const before = asked();

  await import("../../lambda/main/hold.ts");

  await expect.poll(asked, { timeout: 60_000 }).toBe(before + 1);
});

it("a release that comes through the alias of schedules is never forced", async () => {
  const { handler } = await import("../../lambda/main/release.ts");
  const arn = "arn:aws:lambda:eu-west-1:123456789012:function:karpenter-node-holder-prod-release";
  const about = { awsRequestId: "1", getRemainingTimeInMillis: () => 60_000 };
  const force = (invokedFunctionArn: string) => handler({ force: true }, { ...about, invokedFunctionArn });

  await expect(force(`${arn}:schedule`)).rejects.toThrow("a schedule cannot force a release");
  // Through the function itself it is tried, on a table that is not there.
  await expect(force(arn)).rejects.toThrow("nothing is right here");
});
