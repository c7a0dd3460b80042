import { Scheduler } from "@aws-sdk/client-scheduler";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { type Account, awsAccount } from "../../cli/doctor/aws/aws-account.ts";
import { countIn } from "../../cli/doctor/aws/values.ts";
import { launchesAndProbes } from "../../infra/event-pattern.ts";
import { holderName } from "../../lambda/core/marks/keys.ts";
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

/** Fields of the answers of all services; each reads its own. */
const AlarmActions = ["arn:topic"];
const everything = {
  ...{ State: "ENABLED", accessEntry: { kubernetesGroups: ["g"] }, ReservedConcurrentExecutions: 0 },
  ...{ Name: "r", Arn: "arn:r", EventPattern: '{"a":["b"]}', RuleNames: ["r"] },
  Targets: [{ Arn: "arn:other" }, { Arn: "arn:t", DeadLetterConfig: { Arn: "arn:dead" } }],
  DestinationConfig: { OnFailure: { Destination: "arn:failures" } },
  EventSourceMappings: [{ UUID: "m", State: "Enabled", LastProcessingResult: "OK" }],
  ...{ FailedEntryCount: 1, Entries: [{ ErrorMessage: "no" }], QueueUrl: "https://sqs/q" },
  Attributes: {
    ...{ QueueArn: "arn:q", ApproximateNumberOfMessages: "7", ApproximateNumberOfMessagesNotVisible: "2" },
    ...{ Policy: "{}", RedrivePolicy: '{"deadLetterTargetArn":"arn:dead"}' },
  },
  ...{ FunctionArn: "arn:f", Role: "arn:role", LastUpdateStatus: "Failed", VpcConfig: { SubnetIds: ["s"] } },
  Environment: { Variables: { A: "b" } },
  associatedAccessPolicies: [
    { policyArn: "AmazonEKSViewPolicy", associatedAt: 1 },
    { policyArn: "AmazonEKSClusterAdminPolicy", associatedAt: 2 },
  ],
  AlarmHistoryItems: [{ HistorySummary: "Failed to execute action arn:topic" }],
  MetricAlarms: [
    ...[{}, { AlarmActions }, { AlarmActions, ActionsEnabled: false }, { AlarmActions: [] }],
    { AlarmName: "a", AlarmDescription: "about a", StateValue: "ALARM", StateUpdatedTimestamp: 1_000 },
  ],
  cluster: { status: "ACTIVE", accessConfig: { authenticationMode: "API" } },
};
/** Answers in which the last part of what is read is missing. */
const partly = {
  ...{ AlarmHistoryItems: [{ HistorySummary: "Successfully executed action arn:topic" }], MetricAlarms: [] },
  ...{
    RuleNames: ["r"],
    Targets: [{ Arn: "arn:t" }],
    FailedEntryCount: 1,
    Entries: [],
    associatedAccessPolicies: [],
  },
  ...{ DestinationConfig: {}, EventSourceMappings: [{}], accessEntry: {}, cluster: {} },
};
/** Values that AWS does not answer, but others may. */
const odd = {
  ...{ Arn: 7, FunctionArn: 7, EventSourceMappings: [{ UUID: null, State: 7 }] },
  ...{ MetricAlarms: [{ StateValue: 7 }], AlarmHistoryItems: [] },
  Attributes: {
    ...{ QueueArn: "arn:q", ApproximateNumberOfMessages: "1x" },
    RedrivePolicy: '{"deadLetterTargetArn":7}',
  },
  ...{ FailedEntryCount: 1, QueueUrl: "https://sqs/q", RuleNames: ["r"], EventPattern: "{" },
};
const aQueue = { url: "https://sqs/q", arn: "arn:queue" };
const calls: Readonly<Record<string, (account: Account) => Promise<unknown>>> = {
  identity: (account) => account.identity(),
  schedules: (account) => account.schedules("group"),
  refused: (account) => account.refused("arn:role/name", ["a:B", "c:D"], "arn:thing"),
  trust: (account) => account.trust("arn:role/path/name"),
  alarms: (account) => account.alarms(["a"]),
  unsent: (account) => account.unsent(["a"]),
  ruleTo: (account) => account.ruleTo("arn:t"),
  enableRule: async (account) => void (await account.enableRule("r")),
  putProbe: (account) => account.putProbe("p", new Date(0), undefined),
  queue: (account) => account.queue("arn:aws:sqs:eu-west-1:1:q"),
  "queue by its URL": (account) => account.queue("https://sqs/q"),
  letRuleSend: (account) => account.letRuleSend(aQueue, "arn:rule"),
  functionOf: (account) => account.functionOf("hold"),
  hasAlias: (account) => account.hasAlias("release", "schedule"),
  mapping: (account) => account.mapping("f", "arn:q"),
  enableMapping: async (account) => void (await account.enableMapping("m")),
  "invoke, of whose answer the names": async (account) =>
    Object.keys(Object(await account.invoke("hold", { do: "check" }))),
  cluster: (account) => account.cluster("prod"),
  accessGroups: (account) => account.accessGroups("prod", "arn:role"),
  adminSince: (account) => account.adminSince("prod", "arn:role"),
  deleteEntry: async (account) => void (await account.deleteEntry("prod", "arn:role")),
  admit: async (account) => void (await account.admit("prod", "arn:role")),
};

const answers = {
  ...{ full: json(everything), partial: json(partly), empty: json({}), odd: json(odd) },
  gone: jsonError("ResourceNotFoundException", "gone", 404),
  denied: jsonError("AccessDeniedException", "denied", 403),
};
/** How an error looks that goes on to the caller as it came. */
const thrown = {
  gone: JSON.stringify("throws ResourceNotFoundException: gone"),
  denied: JSON.stringify("throws AccessDeniedException: denied"),
};
const failure = (error: Error) => `throws ${error.name}: ${error.message.replace(/^@aws-sdk.*/s, "no XML")}`;
const requestOf = ({ method, path, headers, body }: AwsRequest) =>
  `${method} ${path} ${headers["x-amz-target"] ?? ""} ${body.replace(/"clientRequestToken":"[^"]*",|,"clientRequestToken":"[^"]*"/, "")}`;

// A change is accepted with `npx vitest run test/cli/aws-account --update`, and read in the diff.
it("asks AWS for what was reviewed, reads full, partial, empty and odd answers, and throws errors but those that are shown", async () => {
  const lines: string[] = [];
  for (const [name, call] of Object.entries(calls)) {
    const asked: string[] = [];
    const read = new Map<string, string[]>();
    for (const [kind, answer] of Object.entries(answers)) {
      aws = await fakeAws(() => answer);
      const text = String(JSON.stringify(await call(awsAccount(aws.client, "prod")).catch(failure)));
      if (text !== Reflect.get(thrown, kind)) read.set(text, [...(read.get(text) ?? []), kind]);
      if (kind === "full") asked.push(...aws.requests.map(requestOf));
      await aws.close();
    }
    // Requests at the same time come in any order.
    lines.push(`# ${name}`, ...asked.toSorted());
    lines.push(...[...read].map(([text, kinds]) => `  ${kinds.join(", ")}: ${text}`));
  }
  await expect(lines.join("\n")).toMatchFileSnapshot("printed/aws-account.txt");
});

it("reads a count as text of digits alone, and none as 0", () => {
  expect([countIn("012"), countIn(null), countIn(undefined)]).toEqual([12, 0, 0]);
  for (const odd of ["", "x1", "1x", "1".repeat(16), 7]) expect(() => countIn(odd)).toThrow("cannot be read");
});

/** AWS's answer about a role with this trust. */
const roleWith = (trust: string) =>
  `<R><GetRoleResult><Role><AssumeRolePolicyDocument>${trust}</AssumeRolePolicyDocument></Role></GetRoleResult></R>`;

/** The account of cluster prod where AWS answers this. */
async function accountWhere(answer: (request: AwsRequest) => AwsAnswer) {
  aws = await fakeAws(answer);
  return awsAccount(aws.client, "prod");
}
const bodies = () => (aws?.requests ?? []).map(({ body }) => (body ? JSON.parse(body) : {}));

describe("doctor reads", () => {
  it("of a function when it was changed, also one for whose invocations nothing is set", async () => {
    const account = await accountWhere(({ path }) =>
      path.includes("/event-invoke-config")
        ? jsonError("ResourceNotFoundException", "none", 404)
        : json({ LastModified: "2026-11-23T12:00:00.000+0000" }),
    );
    expect(await account.functionOf("hold")).toMatchObject({
      changedAt: new Date("2026-11-23T12:00:00Z"),
      failuresArn: "",
      reservedConcurrency: undefined,
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

  it("no page of schedules again", async () => {
    const account = await accountWhere(({ path }) =>
      path.includes("/schedules/s")
        ? json({ Name: "s" })
        : json({ Schedules: [{ Name: "s" }], NextToken: "same" }),
    );
    expect(await account.schedules("group")).toHaveLength(2);
  });

  it("a thousand schedules of a group, and no further page", async () => {
    const read = vi.spyOn(Scheduler.prototype, "getSchedule").mockImplementation(async () => ({}));
    onTestFinished(() => read.mockRestore());
    const Schedules = Array.from({ length: 100 }, (_, n) => ({ Name: `s${n}` }));
    const account = await accountWhere(() => json({ Schedules, NextToken: `page${aws?.requests.length}` }));
    expect(await account.schedules("group")).toHaveLength(1_000);
    expect(aws?.requests).toHaveLength(10);
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

describe("doctor fixes", () => {
  it.each([
    ["one more group of the entry, and keeps its user's", ["theirs"], ["theirs", holderName]],
    ["a missing entry by one with our group alone", undefined, [holderName]],
  ])("%s", async (_, kubernetesGroups, written) => {
    const account = await accountWhere((asked) =>
      asked.method === "GET" && !kubernetesGroups
        ? jsonError("ResourceNotFoundException", "none", 404)
        : json({ accessEntry: { kubernetesGroups } }),
    );
    await account.admit("prod", "arn:role");
    const [, { path = "" } = {}] = aws?.requests ?? [];
    expect(path).toBe(`/clusters/prod/access-entries${kubernetesGroups ? "/arn%3Arole" : ""}`);
    expect(bodies()[1]).toMatchObject({ kubernetesGroups: written });
  });

  it("the queue's policy by one more statement, and keeps what is in it by now", async () => {
    const policy = { Version: "2008-10-17", Id: "theirs", Statement: { Sid: "theirs" } };
    const account = await accountWhere(() => json({ Attributes: { Policy: JSON.stringify(policy) } }));
    await account.letRuleSend(aQueue, "arn:rule");
    const { Statement, ...rest } = JSON.parse(bodies()[1].Attributes.Policy);
    const [theirs, ours] = Statement;
    expect({ ...rest, Statement: theirs }).toEqual(policy);
    expect(ours).toMatchObject({
      Resource: "arn:queue",
      Condition: { ArnEquals: { "aws:SourceArn": "arn:rule" } },
    });
  });
});
