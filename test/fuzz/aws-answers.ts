import type { FakeClientConfig } from "../support/fake-aws.ts";
import fc from "../support/fast-check.ts";

/** What no error and no log may contain. */
export const secrets = ["the-secret-access-key", "the-session-token"];
const [secretAccessKey = "", sessionToken = ""] = secrets;

/** A client that logs in with these secrets and tries once. */
export const secretly = (client: FakeClientConfig) => ({
  ...client,
  credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey, sessionToken },
  maxAttempts: 1,
  md5: false as const,
});

const long = "long ".repeat(100_000);
const probes = '{"source":["karpenter-node-holder.probe"],"detail":{"cluster":["prod"]}}';
const odd = fc.oneof(
  fc.constantFrom<unknown>(
    ...[
      null,
      7,
      "",
      "x",
      "{",
      "%E0%A4%A",
      "noon",
      "arn:",
      "http://elsewhere",
      "Y2E=",
      "\u001b[2J\u0007",
      long,
    ],
    ...[{}, [], [null], [7, { Name: null, Arn: 7 }], { toString: 1 }, { N: { toString: 1 } }],
    ...[probes, `{"$or":[null,7,${probes}]}`],
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
const some = (...names: readonly string[]) =>
  fc.record(Object.fromEntries(names.map((name) => [name, odd])), { requiredKeys: [] });
/** A service's fields, with invalid values at any depth. */
const fields = fc
  .tuple(
    some("FunctionArn", "State", "LastUpdateStatus", "LastModified", "VpcConfig", "DestinationConfig"),
    some("ReservedConcurrentExecutions", "EventSourceMappings", "RuleNames", "Targets", "QueueUrl"),
    some("MetricAlarms", "Item", "Items", "Failed", "Role", "Rules", "Table", "cluster", "accessEntry"),
    fc.record(
      {
        Role: some("AssumeRolePolicyDocument"),
        Environment: some("Variables"),
        Rules: fc.array(some("Name", "Arn", "State", "EventPattern")),
        Attributes: some("QueueArn", "Policy", "RedrivePolicy"),
        Table: some("TableStatus"),
        Item: some("kind", "name", "version", "hold"),
        cluster: some(
          "status",
          "version",
          "accessConfig",
          "resourcesVpcConfig",
          "endpoint",
          "certificateAuthority",
        ),
        accessEntry: some("kubernetesGroups"),
        NextToken: fc.constantFrom("", "round", 7),
      },
      { requiredKeys: [] },
    ),
  )
  .map((parts) => JSON.stringify(Object.assign({}, ...parts)));

const xml = (action: string, inside: string) => `<${action}Response>${inside}</${action}Response>`;
const result = (action: string, inside: string) =>
  xml(action, `<${action}Result>${inside}</${action}Result>`);
/** A role with this trust. */
export const roleWith = (trust: string) =>
  result("GetRole", `<Role><AssumeRolePolicyDocument>${trust}</AssumeRolePolicyDocument></Role>`);
const oneInstance = "<instanceId>i-1</instanceId><launchTime>noon</launchTime>";
const texts = fc.constantFrom(
  "",
  "null",
  "[]",
  "<html><body>Sign in</body></html>",
  xml("DescribeInstances", "<nextToken>round</nextToken>"),
  xml("DescribeInstances", "<reservationSet>7</reservationSet>"),
  xml(
    "DescribeInstances",
    `<reservationSet><item><instancesSet><item>${oneInstance}</item></instancesSet></item></reservationSet>`,
  ),
  result("GetCallerIdentity", "<Arn></Arn>"),
  result("GetRole", "<Role>7</Role>"),
  result("DescribeAlarms", "<MetricAlarms><member>7</member></MetricAlarms><NextToken>round</NextToken>"),
  `{"message":"${long}"}`,
  '{"__type":{"toString":1},"message":7}',
);

// Not what the SDK itself writes as "[object Object]".
const text = fc.constantFrom(null, 7, "", "x", "\u001b[2J\u0007", long);
const errors = fc.record({ __type: text, message: text });

/** Answers that AWS never gives, but proxies, faults and attackers might. */
export const answers = fc.record({
  status: fc.constantFrom(200, 200, 200, 200, 204, 302, 400, 403, 404, 409, 413, 500, 503),
  body: fc.oneof(
    { weight: 3, arbitrary: fields },
    { weight: 1, arbitrary: fc.json({ maxDepth: 3 }) },
    { weight: 1, arbitrary: errors.map((error) => JSON.stringify(error)) },
    { weight: 2, arbitrary: texts },
  ),
  headers: fc.constantFrom<Record<string, string>>(
    {},
    { "content-type": "application/cbor" },
    { "x-amzn-errortype": "ValidationException" },
    { "x-amzn-errortype": "ResourceNotFoundException" },
    { "x-amzn-errortype": "AccessDeniedException:http://internal/" },
    { "retry-after": "soon" },
    { location: "http://127.0.0.1:1/" },
  ),
});

/** Such an answer by its body alone, for what is played in every run. */
export const answering = (body: string) => ({ status: 200, body, headers: {} });
