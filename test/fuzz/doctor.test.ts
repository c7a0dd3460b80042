import { afterAll, expect } from "vitest";
import { AwsAccount } from "../../cli/doctor/aws/aws-account.ts";
import type { Finding, LinkName } from "../../cli/doctor/finding.ts";
import { findingView, verdictView } from "../../cli/doctor/view.ts";
import { examined } from "../cli/healthy-account.ts";
import { type AwsAnswer, fakeAws } from "../support/fake-aws.ts";
import fc from "../support/fast-check.ts";
import { errorOf, expectSecret, fuzzed } from "./fuzz.ts";

const secrets = ["the-secret-access-key", "the-session-token"];
const [secretAccessKey = "", sessionToken = ""] = secrets;

/** The links that may be reported when this call gets an invalid answer. */
const asked = {
  identity: ["credentials"],
  functionOf: ["functions"],
  launchRule: ["rule", "target", "queue policy"],
  ruleThatTargets: ["sweep"],
  queue: ["queue", "queue policy", "target", "dead letters"],
  mapping: ["mapping"],
  tableStatus: ["record"],
  scheduleGroup: ["schedule group"],
  role: ["schedule role"],
  cluster: ["cluster"],
  accessGroups: ["access entries"],
  alarms: ["alarms"],
} as const satisfies Partial<Record<keyof AwsAccount, readonly LinkName[]>>;
type Asked = keyof typeof asked;
const questions = Object.keys(asked) as Asked[];

const long = "long ".repeat(100_000);
const odd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    7,
    "",
    "x",
    "{",
    "%E0%A4%A",
    "noon",
    "arn:",
    {},
    [],
    [null],
    [7, { Name: null, Arn: 7 }],
    { toString: 1 },
    long,
    "\u001b[2J\u0007",
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
const aRule = fc.record(
  {
    Name: odd,
    Arn: odd,
    State: odd,
    EventPattern: fc.oneof(
      odd,
      fc.constantFrom(
        '{"source":["karpenter-node-holder.probe"],"detail":{"cluster":["prod"]}}',
        '{"$or":[null,7,{"source":["karpenter-node-holder.probe"],"detail":{"cluster":["prod"]}}]}',
      ),
    ),
  },
  { requiredKeys: [] },
);
/** Answers with a service's fields and invalid values. */
const fields = fc.record(
  {
    FunctionArn: odd,
    Role: fc.oneof(odd, fc.record({ AssumeRolePolicyDocument: odd })),
    State: odd,
    LastUpdateStatus: odd,
    LastModified: odd,
    VpcConfig: odd,
    Environment: fc.oneof(odd, fc.record({ Variables: odd })),
    ReservedConcurrentExecutions: odd,
    DestinationConfig: odd,
    EventSourceMappings: odd,
    Rules: fc.oneof(odd, fc.array(aRule)),
    RuleNames: odd,
    Targets: odd,
    NextToken: fc.constantFrom(undefined, "", "round", 7),
    QueueUrl: odd,
    Attributes: fc.oneof(odd, fc.record({ QueueArn: odd, Policy: odd, RedrivePolicy: odd })),
    Table: fc.oneof(odd, fc.record({ TableStatus: odd })),
    cluster: fc.oneof(
      odd,
      fc.record({ status: odd, version: odd, accessConfig: odd, resourcesVpcConfig: odd }),
    ),
    accessEntry: fc.oneof(odd, fc.record({ kubernetesGroups: odd })),
    MetricAlarms: odd,
  },
  { requiredKeys: [] },
);
const xml = (action: string, inside: string) =>
  `<${action}Response><${action}Result>${inside}</${action}Result></${action}Response>`;
const body = fc.oneof(
  { weight: 3, arbitrary: fields.map((reported) => JSON.stringify(reported)) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 3 }) },
  {
    weight: 1,
    arbitrary: fc.record({ __type: odd, message: odd }).map((reported) => JSON.stringify(reported)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "",
      "<html><body>Sign in</body></html>",
      xml("GetCallerIdentity", "<Arn></Arn>"),
      xml("GetRole", "<Role><AssumeRolePolicyDocument>%7B</AssumeRolePolicyDocument></Role>"),
      xml("GetRole", "<Role><AssumeRolePolicyDocument>%E0%A4%A</AssumeRolePolicyDocument></Role>"),
      xml("GetRole", "<Role>7</Role>"),
      xml("DescribeAlarms", "<MetricAlarms><member>7</member></MetricAlarms><NextToken>round</NextToken>"),
      `{"message":"${long}"}`,
      `{"__type":{"toString":1},"message":7}`,
    ),
  },
);
const answer = fc.record({
  status: fc.constantFrom(200, 200, 200, 200, 204, 302, 400, 403, 404, 500, 503),
  body,
  headers: fc.constantFrom<Record<string, string>>(
    {},
    { "content-type": "application/cbor" },
    { "x-amzn-errortype": "ResourceNotFoundException" },
    { "x-amzn-errortype": "AccessDeniedException:http://internal/" },
    { location: "http://127.0.0.1:1/" },
  ),
});
/** Played in every run: pages whose tokens form a circle. */
const always: [Asked, { status: number; body: string; headers: Record<string, string> }][] = [
  ["launchRule", { status: 200, body: '{"Rules":[],"NextToken":"round"}', headers: {} }],
  ["alarms", { status: 200, body: '{"MetricAlarms":[],"NextToken":"round"}', headers: {} }],
];

const textOf = (finding: Finding) => findingView(finding, (_, text) => text).join("\n");

let reported: AwsAnswer = { body: "" };
const aws = await fakeAws(() => reported);
afterAll(() => aws.close());
const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey, sessionToken };
const config = { ...aws.client, credentials, maxAttempts: 1, md5: false };
const oddAccount = new AwsAccount(config, "prod");

fuzzed(
  "an invalid answer of AWS is reported at its own link, and doctor checks all others",
  async (question, given) => {
    reported = given;
    const ask: (...given: never[]) => Promise<unknown> = oddAccount[question].bind(oddAccount);
    const findings: Finding[] = [];
    const failure = await errorOf(examined({ [question]: ask }).then((found) => findings.push(...found)));

    expect(failure).toBeUndefined();
    const isEarly = question === "identity" || question === "functionOf";
    if (!isEarly) expect(findings.at(-1)?.link).toBe("probe");
    const elsewhere = findings.filter(
      ({ link, verdict }) =>
        verdict !== "ok" && verdict !== "skipped" && !asked[question].some((one) => one === link),
    );
    if (!isEarly) expect(elsewhere).toEqual([]);
    for (const finding of findings) {
      const text = textOf(finding);
      expect(text).not.toMatch(
        /is not a function|is not iterable|Cannot (read|convert)|Invalid time|\[object |\bundefined\b|\bNaN\b/,
      );
      expect(text).not.toMatch(/(?!\n)\p{Cc}/u);
      expect(text.length, text.slice(0, 300)).toBeLessThan(3_000);
      expectSecret(text, secrets);
    }
    expect(verdictView(findings, (_, text) => text)).not.toBe("");
  },
  { runs: 250, given: [fc.constantFrom(...questions), answer], examples: always },
);
