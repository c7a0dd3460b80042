import { Scheduler } from "@aws-sdk/client-scheduler";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Account } from "../../cli/doctor/aws/aws-account.ts";
import { launchesAndProbes } from "../../infra/event-pattern.ts";
import { json, jsonError } from "../support/fake-aws.ts";
import { accountWhere, bodies, requests } from "./account-where.ts";

/** AWS's answer about a role with this trust. */
const roleWith = (trust: string) =>
  `<R><GetRoleResult><Role><AssumeRolePolicyDocument>${trust}</AssumeRolePolicyDocument></Role></GetRoleResult></R>`;

describe("doctor reads", () => {
  const alarm = { name: "", description: "", state: "", notifies: false, since: new Date(0) };
  const AlarmActions = ["arn:topic"];
  const failed = "Failed to execute action arn:topic";
  const policies = ["View", "ClusterAdmin"].map((name, n) => ({
    ...{ policyArn: `AmazonEKS${name}Policy`, associatedAt: n },
  }));
  it.each<[what: string, answer: object, read: (account: Account) => Promise<unknown>, expected: unknown]>([
    [
      "a function",
      {
        ...{ FunctionArn: "arn:f", Role: "arn:role", LastUpdateStatus: "Failed" },
        ...{ ReservedConcurrentExecutions: 0, VpcConfig: { SubnetIds: ["s"] } },
        Environment: { Variables: { A: "b" } },
        DestinationConfig: { OnFailure: { Destination: "arn:failures" } },
      },
      (account) => account.functionOf("hold"),
      {
        ...{ name: "karpenter-node-holder-prod-hold", arn: "arn:f", roleArn: "arn:role", env: { A: "b" } },
        ...{ state: "Active", lastUpdate: "Failed", changedAt: new Date(0) },
        ...{ inVpc: true, reservedConcurrency: 0, failuresArn: "arn:failures" },
      },
    ],
    [
      "a queue by its ARN",
      {
        QueueUrl: "https://sqs/q",
        Attributes: {
          ...{ QueueArn: "arn:q", Policy: "{}", RedrivePolicy: '{"deadLetterTargetArn":"arn:dead"}' },
          ...{ ApproximateNumberOfMessages: "7", ApproximateNumberOfMessagesNotVisible: "2" },
        },
      },
      (account) => account.queue("arn:aws:sqs:eu-west-1:1:q"),
      { url: "https://sqs/q", arn: "arn:q", waiting: 7, inFlight: 2, policy: {}, deadLetterArn: "arn:dead" },
    ],
    [
      "an event source mapping",
      { EventSourceMappings: [{ UUID: "m", State: "Enabled", LastProcessingResult: "OK" }] },
      (account) => account.mapping("f", "arn:q"),
      { id: "m", state: "Enabled", lastResult: "OK" },
    ],
    [
      "since when a role is an admin",
      { associatedAccessPolicies: policies },
      (account) => account.adminSince("prod", "arn:role"),
      new Date(1_000),
    ],
    [
      "which alarms notify",
      { MetricAlarms: [{ AlarmActions }, { AlarmActions, ActionsEnabled: false }, { AlarmActions: [] }] },
      (account) => account.alarms(["a"]),
      [{ ...alarm, notifies: true }, alarm, alarm],
    ],
    [
      "which alarms could not notify",
      { AlarmHistoryItems: [{ HistorySummary: failed }] },
      (account) => account.unsent(["a"]),
      [{ name: "a", why: failed }],
    ],
    [
      "which alarms could",
      { AlarmHistoryItems: [{ HistorySummary: "Successfully executed action arn:topic" }] },
      (account) => account.unsent(["a"]),
      [],
    ],
    [
      "a mapping about which nothing is said",
      { EventSourceMappings: [{}] },
      (account) => account.mapping("f", "arn:q"),
      { id: "", state: "", lastResult: "" },
    ],
    [
      "an alarm about which nothing is said",
      { MetricAlarms: [{}] },
      (account) => account.alarms(["a"]),
      [alarm],
    ],
    [
      "an alarm that did something unknown",
      { AlarmHistoryItems: [{}] },
      (account) => account.unsent(["a"]),
      [],
    ],
    [
      "a policy without a name",
      { associatedAccessPolicies: [{}] },
      (account) => account.adminSince("prod", "arn:role"),
      undefined,
    ],
    [
      "a function that is in no subnet, and whose failures go nowhere",
      { DestinationConfig: {}, VpcConfig: { SubnetIds: [] } },
      (account) => account.functionOf("release"),
      expect.objectContaining({ inVpc: false, failuresArn: "" }),
    ],
  ])("%s", async (_, answer, read, expected) => {
    expect(await read(await accountWhere(() => json(answer)))).toEqual(expected);
  });

  const bare = { name: "", state: "Active", lastUpdate: "", changedAt: new Date(0), inVpc: false };
  it.each<[what: string, read: (account: Account) => Promise<unknown>, expected: unknown]>([
    [
      "a function",
      (account) => account.functionOf("hold"),
      {
        ...{ ...bare, name: "karpenter-node-holder-prod-hold", arn: "", roleArn: "", env: {} },
        ...{ reservedConcurrency: undefined, failuresArn: "" },
      },
    ],
    ["event source mappings", (account) => account.mapping("f", "arn:q"), undefined],
    ["an access entry", (account) => account.accessGroups("prod", "arn:role"), []],
    ["the policies of an entry", (account) => account.adminSince("prod", "arn:role"), undefined],
    ["schedules", (account) => account.schedules("group"), []],
    ["alarms", (account) => account.alarms(["a"]), []],
    ["what alarms did", (account) => account.unsent(["a"]), []],
  ])("nothing of %s, where the answer is empty", async (_, read, expected) => {
    expect(await read(await accountWhere(() => json({})))).toEqual(expected);
  });

  it("of a function when it was changed, also one for whose invocations nothing is set", async () => {
    const account = await accountWhere(({ path }) =>
      path.includes("/event-invoke-config")
        ? jsonError("ResourceNotFoundException", "none", 404)
        : json({ LastModified: "2026-11-23T12:00:00.000+0000" }),
    );
    const changedAt = new Date("2026-11-23T12:00:00Z");
    expect(await account.functionOf("hold")).toMatchObject({ changedAt, failuresArn: "" });
  });

  it.each<[what: string, read: (account: Account) => Promise<unknown>, expected?: false]>([
    ["a function", (account) => account.functionOf("hold")],
    ["a queue", (account) => account.queue("https://sqs/q")],
    ["a group of schedules", (account) => account.schedules("group")],
    ["an access entry", (account) => account.accessGroups("prod", "arn:role")],
    ["an alias", (account) => account.hasAlias("release", "schedule"), false],
  ])("nothing of %s that is gone, and fails where it may not be read", async (_, read, expected) => {
    const gone = await accountWhere(() => jsonError("ResourceNotFoundException", "gone", 404));
    expect(await read(gone)).toBe(expected);
    const denied = await accountWhere(() => jsonError("AccessDeniedException", "denied", 403));
    await expect(read(denied)).rejects.toThrow("denied");
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

  it("every schedule of a group, on whatever page it is, but those that have fired meanwhile", async () => {
    const account = await accountWhere(({ path }) => {
      if (path.includes("/schedules/gone")) return jsonError("ResourceNotFoundException", "gone", 404);
      const [, name] = /\/schedules\/(\w+)\?groupName=group$/.exec(path) ?? [];
      const Target = { Arn: "arn:release", Input: "{}" };
      const State = name === "second" ? "DISABLED" : "ENABLED";
      if (name === "bare") return json({ Name: name });
      if (name) return json({ Name: name, State, ScheduleExpression: "at(now)", Target });
      return path.includes("NextToken")
        ? json({ Schedules: [{ Name: "second" }, { Name: "gone" }, { Name: "bare" }] })
        : json({ Schedules: [{ Name: "first" }], NextToken: "more" });
    });
    const about = { expression: "at(now)", targetArn: "arn:release", input: "{}" };
    expect(await account.schedules("group")).toEqual([
      { name: "first", isEnabled: true, ...about },
      { name: "second", isEnabled: false, ...about },
      { name: "bare", isEnabled: true, expression: "", targetArn: "", input: "" },
    ]);
  });

  it("a thousand schedules of a group, and no further page", async () => {
    const read = vi.spyOn(Scheduler.prototype, "getSchedule").mockImplementation(async () => ({}));
    onTestFinished(() => read.mockRestore());
    const Schedules = Array.from({ length: 100 }, (_, n) => ({ Name: `s${n}` }));
    const account = await accountWhere(() => json({ Schedules, NextToken: `page${requests().length}` }));
    expect(await account.schedules("group")).toHaveLength(1_000);
    expect(requests()).toHaveLength(10);
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

  it("nothing of a role that is gone", async () => {
    const body =
      "<ErrorResponse><Error><Code>NoSuchEntity</Code><Message>gone</Message></Error></ErrorResponse>";
    const account = await accountWhere(() => ({ status: 404, body }));
    expect(await account.trust("arn:aws:iam::1:role/schedules")).toBeUndefined();
  });
});
