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
const odd = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, 7, "", "x", "{", "%E0%A4%A", "noon", "http://elsewhere", "Y2E=", "\u001b[2J\u0007", long],
    ...[{}, [], [null], { toString: 1 }, { N: { toString: 1 } }],
  ),
  fc.jsonValue({ maxDepth: 2 }),
);
const some = (...names: readonly string[]) =>
  fc.record(Object.fromEntries(names.map((name) => [name, odd])), { requiredKeys: [] });
const ofCluster = ["status", "accessConfig", "resourcesVpcConfig", "endpoint", "certificateAuthority"];
/** A service's fields, with invalid values at any depth. */
const fields = fc
  .tuple(
    some("Item", "Items", "LastEvaluatedKey", "Failed", "cluster", "accessEntry"),
    fc.record(
      { Item: some("kind", "name", "version", "hold"), cluster: some(...ofCluster) },
      { requiredKeys: [] },
    ),
  )
  .map((parts) => JSON.stringify(Object.assign({}, ...parts)));

const described = (inside: string) => `<DescribeInstancesResponse>${inside}</DescribeInstancesResponse>`;
const oneInstance = "<instanceId>i-1</instanceId><launchTime>noon</launchTime>";
const texts = fc.constantFrom(
  ...["", "null", "[]", "<html><body>Sign in</body></html>"],
  described("<nextToken>round</nextToken>"),
  described("<reservationSet>7</reservationSet>"),
  described(
    `<reservationSet><item><instancesSet><item>${oneInstance}</item></instancesSet></item></reservationSet>`,
  ),
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
