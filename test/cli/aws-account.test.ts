import { afterEach, describe, expect, it } from "vitest";
import { awsAccount } from "../../cli/doctor/aws/aws-account.ts";
import { launchesAndProbes } from "../../lambda/handlers/event-sources.ts";
import { roleWith } from "../fuzz/aws-answers.ts";
import {
  type AwsAnswer,
  type AwsRequest,
  type FakeAws,
  fakeAws,
  json,
  jsonError,
} from "../support/fake-aws.ts";

let aws: FakeAws | undefined;
afterEach(() => aws?.close());

/** The account of cluster prod where AWS answers this. */
async function accountWhere(answer: (request: AwsRequest) => AwsAnswer) {
  aws = await fakeAws(answer);
  return awsAccount(aws.client, "prod");
}
const bodies = () => (aws?.requests ?? []).map(({ body }) => (body ? JSON.parse(body) : {}));

const aQueue = {
  ...{ url: "https://sqs/q", arn: "arn:q", waiting: 0, inFlight: 0, policy: undefined, deadLetterArn: "" },
};

describe("doctor reads", () => {
  it("of a function its name, when it was changed, whether it is turned off, and where failures go", async () => {
    const account = await accountWhere(({ path }) => {
      if (path.includes("/concurrency")) return json({ ReservedConcurrentExecutions: 0 });
      if (path.includes("/event-invoke-config"))
        return json({ DestinationConfig: { OnFailure: { Destination: "arn:failures" } } });
      return json({ LastModified: "2026-11-23T12:00:00.000+0000", Environment: { Variables: { A: "b" } } });
    });
    expect(await account.functionOf("hold")).toMatchObject({
      name: "karpenter-node-holder-prod-hold",
      changedAt: new Date("2026-11-23T12:00:00Z"),
      reservedConcurrency: 0,
      failuresArn: "arn:failures",
      env: { A: "b" },
    });
  });

  it("the rule that leads to a queue, and where it sends what cannot be delivered", async () => {
    const account = await accountWhere(({ headers }) => {
      if (headers["x-amz-target"]?.includes("ListTargets"))
        return json({
          Targets: [{ Arn: "arn:other" }, { Arn: "arn:queue", DeadLetterConfig: { Arn: "arn:dead" } }],
        });
      return json({
        RuleNames: ["launches"],
        Arn: "arn:rule",
        State: "ENABLED",
        EventPattern: '{"a":["b"]}',
      });
    });
    expect(await account.ruleTo("arn:queue")).toEqual({
      name: "launches",
      arn: "arn:rule",
      isEnabled: true,
      pattern: { a: ["b"] },
      deadLetterArn: "arn:dead",
    });
  });

  it("the key of this cluster's probes, and sends it with a probe", async () => {
    const about = { cluster: "prod", account: "123456789012", region: "eu-west-1", probeKey: "k" };
    const account = await accountWhere(() => json({}));
    await account.putProbe("doctor-1", new Date(0), launchesAndProbes(about));
    const [entry] = bodies().at(-1).Entries;
    expect(JSON.parse(entry.Detail)).toEqual({
      id: "doctor-1",
      cluster: "prod",
      key: "k",
      sentAt: "1970-01-01T00:00:00.000Z",
    });
  });

  it("of a function that nothing says where failures go", async () => {
    const account = await accountWhere(({ path }) =>
      path.includes("/event-invoke-config") ? jsonError("ResourceNotFoundException", "gone", 404) : json({}),
    );
    expect(await account.functionOf("hold")).toMatchObject({ failuresArn: "" });
  });

  it("of a queue what waits, what is in flight and where failures go", async () => {
    const Attributes = {
      QueueArn: "arn:queue",
      ApproximateNumberOfMessages: "3",
      ApproximateNumberOfMessagesNotVisible: "2",
      RedrivePolicy: JSON.stringify({ deadLetterTargetArn: "arn:dead" }),
    };
    const account = await accountWhere(() => json({ Attributes }));
    expect(await account.queue("https://sqs/launches")).toMatchObject({
      arn: "arn:queue",
      waiting: 3,
      inFlight: 2,
      deadLetterArn: "arn:dead",
    });
  });

  it("that a cluster without an authentication mode knows the ConfigMap only", async () => {
    const account = await accountWhere(() => json({ cluster: { status: "ACTIVE", version: "1.36" } }));
    expect(await account.cluster("prod")).toMatchObject({
      status: "ACTIVE",
      authenticationMode: "CONFIG_MAP",
    });
  });

  it("since when a role is an admin of the cluster, and not what else it may do", async () => {
    const policy = (name: string, associatedAt: number) => ({
      policyArn: `arn:aws:eks::aws:cluster-access-policy/${name}`,
      associatedAt,
    });
    const associatedAccessPolicies = [
      policy("AmazonEKSViewPolicy", 1_000),
      policy("AmazonEKSClusterAdminPolicy", 2_000),
    ];
    const account = await accountWhere(() => json({ associatedAccessPolicies }));
    expect(await account.adminSince("prod", "arn:role")).toEqual(new Date(2_000_000));
  });

  it("of alarms what they are about, and since when they are on", async () => {
    const alarm = {
      AlarmName: "a",
      AlarmDescription: "about a",
      StateValue: "ALARM",
      StateUpdatedTimestamp: 1_000,
    };
    const account = await accountWhere(() => json({ MetricAlarms: [alarm] }));
    expect(await account.alarms(["a", "b"])).toEqual([
      { name: "a", description: "about a", state: "ALARM", notifies: false, since: new Date(1_000_000) },
    ]);
    expect(bodies()).toMatchObject([{ AlarmNames: ["a", "b"] }]);
  });

  it("of alarms whether they notify anyone", async () => {
    const AlarmActions = ["arn:topic"];
    const account = await accountWhere(() =>
      json({
        MetricAlarms: [{ AlarmActions }, { AlarmActions, ActionsEnabled: false }, { AlarmActions: [] }],
      }),
    );
    expect((await account.alarms(["a"])).map(({ notifies }) => notifies)).toEqual([true, false, false]);
  });

  it("of alarms whether their last notification was sent", async () => {
    const summaries: Readonly<Record<string, string>> = {
      a: "Successfully executed action arn:topic",
      b: "Failed to execute action arn:topic. Received error: no key",
    };
    const account = await accountWhere(({ body }) => {
      const HistorySummary = summaries[JSON.parse(body).AlarmName];
      return json({ AlarmHistoryItems: HistorySummary ? [{ HistorySummary }] : [] });
    });
    expect(await account.unsent(["a", "b", "c"])).toEqual([{ name: "b", why: summaries.b }]);
  });

  it("every schedule of a group, on whatever page it is, but those that have fired meanwhile", async () => {
    const account = await accountWhere(({ path }) => {
      if (path.includes("/schedules/gone")) return jsonError("ResourceNotFoundException", "gone", 404);
      const [, name] = /\/schedules\/(\w+)/.exec(path) ?? [];
      const Target = { Arn: "arn:release", Input: "{}" };
      const State = name === "second" ? "DISABLED" : "ENABLED";
      if (name) return json({ Name: name, State, ScheduleExpression: "at(now)", Target });
      return path.includes("NextToken")
        ? json({ Schedules: [{ Name: "second" }, { Name: "gone" }] })
        : json({ Schedules: [{ Name: "first" }], NextToken: "more" });
    });
    const about = { expression: "at(now)", targetArn: "arn:release", input: "{}" };
    expect(await account.schedules("group")).toEqual([
      { name: "first", isEnabled: true, ...about },
      { name: "second", isEnabled: false, ...about },
    ]);
  });

  it("what a role is refused: whatever IAM does not call allowed", async () => {
    const decided = (action: string, decision: string) =>
      `<member><EvalActionName>${action}</EvalActionName><EvalDecision>${decision}</EvalDecision></member>`;
    const results =
      ["a:B", "g:H"].map((one) => decided(one, "allowed")).join("") + decided("c:D", "explicitDeny");
    const name = "SimulatePrincipalPolicy";
    const body = `<${name}Response><${name}Result><EvaluationResults>${results}</EvaluationResults></${name}Result></${name}Response>`;
    const account = await accountWhere(() => ({ body }));
    expect(await account.refused("arn:role", ["a:B", "c:D", "e:F", "g:H"], "arn:thing")).toEqual([
      "c:D",
      "e:F",
    ]);
  });

  it("the services that a role trusts", async () => {
    const trust = { Statement: [{ Principal: { Service: "scheduler.amazonaws.com" } }] };
    const body = roleWith(encodeURIComponent(JSON.stringify(trust)));
    const account = await accountWhere(() => ({ body }));
    expect(await account.trust("arn:aws:iam::1:role/schedules")).toContain("scheduler.amazonaws.com");
  });
});

describe("doctor fixes", () => {
  it("the queue's policy by one more statement, and keeps the others", async () => {
    const account = await accountWhere(() => json({}));
    const policy = { Statement: [{ Sid: "theirs" }] };
    await account.letRuleSend({ ...aQueue, arn: "arn:queue", policy }, "arn:rule");
    const [theirs, ours] = JSON.parse(bodies()[0].Attributes.Policy).Statement;
    expect(theirs).toEqual({ Sid: "theirs" });
    expect(ours).toMatchObject({
      Resource: "arn:queue",
      Condition: { ArnEquals: { "aws:SourceArn": "arn:rule" } },
    });
  });

  it("a mapping that is disabled", async () => {
    await (await accountWhere(() => json({}))).enableMapping("m");
    expect([aws?.requests[0]?.path, bodies()]).toEqual([
      expect.stringContaining("/event-source-mappings/m"),
      [{ Enabled: true }],
    ]);
  });

  it("an access entry that is there already by updating it", async () => {
    const account = await accountWhere(({ path, method }) =>
      method === "POST" && path.endsWith("/access-entries")
        ? jsonError("ResourceInUseException", "exists", 409)
        : json({}),
    );
    await account.admit("prod", "arn:role");
    expect(bodies().map(({ kubernetesGroups }) => kubernetesGroups)).toEqual([
      ["karpenter-node-holder"],
      ["karpenter-node-holder"],
    ]);
  });

  it("no access entry that may not be created", async () => {
    const account = await accountWhere(() => jsonError("AccessDeniedException", "denied", 403));
    await expect(account.admit("prod", "arn:role")).rejects.toThrow("denied");
    expect(aws?.requests.map(({ method }) => method)).toEqual(["POST"]);
  });

  it("nothing by a function that failed, and reports why", async () => {
    const account = await accountWhere(() => ({
      headers: { "x-amz-function-error": "Unhandled" },
      body: JSON.stringify({ errorMessage: "no access" }),
    }));
    await expect(account.invoke("sweep", {})).rejects.toThrow("no access");
  });
});
