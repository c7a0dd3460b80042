import { Match } from "aws-cdk-lib/assertions";
import { expect, it } from "vitest";
import { everyResource, functionIn, resourcesOf, synthesize, synthesizeEverything } from "./synthesized.ts";

const template = synthesize();
const everything = synthesizeEverything();

const functionNamed = (part: string) => functionIn(template, part);

it("receives launches of its account and region and this cluster's probes by the same rule, and keeps what it cannot deliver", () => {
  template.hasResourceProperties("AWS::Events::Rule", {
    EventPattern: {
      account: [{ Ref: "AWS::AccountId" }],
      region: [{ Ref: "AWS::Region" }],
      $or: [
        { source: ["aws.ec2"], detail: { state: ["pending"] } },
        { source: ["karpenter-node-holder.probe"], detail: { cluster: ["prod"] } },
      ].map(Match.objectLike),
    },
    Targets: [Match.objectLike({ DeadLetterConfig: Match.anyValue() })],
  });
});

it("takes launches two batches at a time, without a batching window, and delivers again only what failed", () => {
  template.hasResourceProperties("AWS::Lambda::EventSourceMapping", {
    BatchSize: 10,
    MaximumBatchingWindowInSeconds: Match.absent(),
    ScalingConfig: { MaximumConcurrency: 2 },
    FunctionResponseTypes: ["ReportBatchItemFailures"],
  });
});

it("does not deliver a message again while a function may still handle it", () => {
  const timeout = Number(functionNamed("hold")?.Timeout);
  template.hasResourceProperties("AWS::SQS::Queue", {
    VisibilityTimeout: timeout * 6,
    RedrivePolicy: Match.objectLike({ maxReceiveCount: 5 }),
  });
});

it("keeps queues encrypted and closed to anything but TLS", () => {
  const queues = resourcesOf(template, "AWS::SQS::Queue");
  const policies = JSON.stringify([...resourcesOf(template, "AWS::SQS::QueuePolicy").values()]);
  expect(queues.size).toBe(4);
  for (const [id, queue] of queues) {
    expect(queue.Properties.SqsManagedSseEnabled).toBe(true);
    expect(policies).toContain(id);
  }
  expect(policies.match(/"aws:SecureTransport":"false"/g)).toHaveLength(queues.size);
});

it("keeps asynchronous invocations that failed for good, except sweeps", () => {
  const configured = [...resourcesOf(template, "AWS::Lambda::EventInvokeConfig").values()];
  const kept = configured.filter(({ Properties }) => Properties.DestinationConfig);
  for (const { Properties } of configured) {
    expect(Properties).toHaveProperty("MaximumRetryAttempts");
    expect(Properties).toHaveProperty("MaximumEventAgeInSeconds");
  }
  for (const { Properties } of kept)
    expect(JSON.stringify(Properties.DestinationConfig)).toContain("Failures");
  const of = (some: typeof configured) =>
    some.map(({ Properties }) => JSON.stringify(Properties.FunctionName));
  expect(of(configured)).toHaveLength(3);
  expect(of(kept)).toEqual([expect.stringContaining("Release"), expect.stringContaining("Control")]);
});

it("reserves concurrency only on request, because some accounts have none to reserve", () => {
  expect(JSON.stringify(template.toJSON())).not.toContain("ReservedConcurrentExecutions");
  everything.hasResourceProperties("AWS::Lambda::Function", {
    FunctionName: "karpenter-node-holder-prod-sweep",
    ReservedConcurrentExecutions: 1,
  });
});

it("sweeps as often as the setting asks", () => {
  template.hasResourceProperties("AWS::Events::Rule", { ScheduleExpression: "rate(5 minutes)" });
  everything.hasResourceProperties("AWS::Events::Rule", { ScheduleExpression: "rate(7 minutes)" });
});

it("runs on the newest Node, on arm64, with JSON logs in a group of its own", () => {
  for (const part of ["hold", "release", "sweep", "control", "cluster-access"]) {
    expect(functionNamed(part)).toMatchObject({
      Runtime: "nodejs24.x",
      Architectures: ["arm64"],
      LoggingConfig: { LogFormat: "JSON" },
    });
    template.hasResourceProperties("AWS::Logs::LogGroup", {
      LogGroupName: `/aws/lambda/karpenter-node-holder-prod-${part}`,
      RetentionInDays: 30,
    });
  }
});

it("gives every function the settings and the names of all resources", () => {
  const reported = (part: string) => functionNamed(part)?.Environment;
  expect(reported("hold")).toMatchObject({
    Variables: {
      CLUSTER: "prod",
      HOLD: "20m",
      HOLD_TABLE: expect.anything(),
      LAUNCH_QUEUE_URL: expect.anything(),
      SCHEDULE_GROUP: "karpenter-node-holder-prod",
      SCHEDULE_ROLE_ARN: expect.anything(),
      RELEASE_FUNCTION_ARN: expect.anything(),
    },
  });
  for (const part of ["release", "sweep", "control"]) expect(reported(part)).toEqual(reported("hold"));
});

it("receives no launch before its rights are in the cluster, nor after they are removed", () => {
  for (const type of ["AWS::Lambda::EventSourceMapping", "AWS::Events::Rule"]) {
    for (const { DependsOn } of resourcesOf(template, type).values()) {
      expect(DependsOn).toContainEqual(expect.stringMatching(/Access.*Installed/));
    }
  }
});

it("changes the cluster only when every function is updated", () => {
  const [access] = resourcesOf(template, "Custom::KarpenterNodeHolderAccess").values();
  for (const part of ["Hold", "Release", "Sweep", "Control"]) {
    expect(access?.DependsOn).toContainEqual(expect.stringContaining(`Functions${part}Function`));
  }
});

it("keeps nothing when it is destroyed", () => {
  const policies = everyResource(everything).map(({ DeletionPolicy = "Delete" }) => DeletionPolicy);
  expect(new Set(policies)).toEqual(new Set(["Delete"]));
});

it("forgets old records by itself, and can be restored to any moment", () => {
  template.hasResourceProperties("AWS::DynamoDB::Table", {
    BillingMode: "PAY_PER_REQUEST",
    TimeToLiveSpecification: { AttributeName: "forgetAt", Enabled: true },
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  });
});

it("gives another cluster a table of its own: the record of one does not affect the other", () => {
  const tables = [template, synthesize({ cluster: "next" })].map(
    (one) => [...resourcesOf(one, "AWS::DynamoDB::Table").keys()][0],
  );
  expect(tables[0]).not.toBe(tables[1]);
});
