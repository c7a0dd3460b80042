import { afterEach, expect, it } from "vitest";
import { type Account, awsAccount } from "../../cli/doctor/aws/aws-account.ts";
import { countIn } from "../../cli/doctor/aws/values.ts";
import { type AwsRequest, type FakeAws, fakeAws, json, jsonError } from "../support/fake-aws.ts";

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

it("waits for a function that hangs until the signal comes, and does not ask it again", async () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  aws = await fakeAws(() => {
    resolve();
    return new Promise(() => {});
  });
  const ended = new AbortController();
  const answer = awsAccount(aws.client, "prod", ended.signal).invoke("sweep", { do: "check" });
  await asked;
  ended.abort();
  await expect(answer).rejects.toThrow(/abort/i);
  expect(aws.requests).toHaveLength(1);
});
