import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { EC2Client } from "@aws-sdk/client-ec2";
import { EKSClient } from "@aws-sdk/client-eks";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { SQSClient } from "@aws-sdk/client-sqs";
import { expect } from "vitest";
import { DynamodbTable } from "../../lambda/aws/dynamodb-table.ts";
import { Ec2Launches } from "../../lambda/aws/ec2-launches.ts";
import { EksLogin } from "../../lambda/aws/eks-login.ts";
import { SchedulerReleases } from "../../lambda/aws/scheduler-releases.ts";
import { SqsFollowUps } from "../../lambda/aws/sqs-follow-ups.ts";
import { EksAccessEntries } from "../../lambda/cluster-access/access-entries.ts";
import { after, minutes } from "../../lambda/core/duration.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { storeOf } from "../contracts/dynamodb-store.ts";
import { aLaunch, aPastHold, aRecord } from "../support/builders.ts";
import { fakeAws } from "../support/fake-aws.ts";
import fc from "../support/fast-check.ts";
import { errorOf, everythingIn, expectSecret, fuzzed } from "./fuzz.ts";

const secrets = ["the-secret-access-key", "the-session-token"];
const [secretAccessKey = "", sessionToken = ""] = secrets;
const clock = { now: () => noon };

/** Played in every run: answers that could send our login elsewhere, or make us retry for ever. */
const always = [
  '{"cluster":{"endpoint":"http://elsewhere","certificateAuthority":{"data":"Y2E="}}}',
  "<DescribeInstancesResponse><nextToken>round</nextToken></DescribeInstancesResponse>",
];
const body = fc.oneof(
  fc.constantFrom(
    "",
    "null",
    "[]",
    "<html><body>Sign in</body></html>",
    "<DescribeInstancesResponse><reservationSet>7</reservationSet></DescribeInstancesResponse>",
    "<DescribeInstancesResponse><reservationSet><item><instancesSet><item><instanceId>i-1</instanceId>" +
      "<launchTime>noon</launchTime></item></instancesSet></item></reservationSet></DescribeInstancesResponse>",
    ...always,
    '{"cluster":null}',
    '{"cluster":{"endpoint":"nowhere","certificateAuthority":{"data":"Y2E="}}}',
    '{"cluster":{"endpoint":{"toString":1},"certificateAuthority":7,"accessConfig":{"authenticationMode":[]}}}',
    '{"Item":7}',
    '{"Items":[null,7,{"name":null}]}',
    '{"Item":{"version":{"N":{"toString":1}}}}',
    '{"Failed":[{"Code":7}]}',
    '{"__type":{"toString":1},"message":7}',
    `{"message":"${"long ".repeat(100_000)}"}`,
  ),
  fc.json({ maxDepth: 3 }),
);
const answer = fc.record({
  status: fc.constantFrom(200, 200, 200, 204, 302, 400, 403, 404, 409, 413, 500, 503),
  body,
  headers: fc.constantFrom<Record<string, string>>(
    {},
    { "x-amzn-errortype": "ValidationException" },
    { "x-amzn-errortype": "AccessDeniedException:http://internal/" },
    { "retry-after": "soon" },
    { location: "http://127.0.0.1:1/" },
  ),
});

fuzzed(
  "malformed answers of AWS end in a result or an error, and reveal no key",
  async (reported) => {
    const aws = await fakeAws(() => reported);
    const credentials = { accessKeyId: "AKIDEXAMPLE", secretAccessKey, sessionToken };
    const config = { ...aws.client, credentials, maxAttempts: 1 };
    const database = new DynamoDBClient(config);
    const eks = new EKSClient(config);
    const { holds, journal } = storeOf(new DynamodbTable(database, "holds"), clock);
    const launches = new Ec2Launches(new EC2Client(config), "prod");
    const login = new EksLogin({ cluster: "prod", eks, clock });
    const roles = {
      scheduler: "arn:aws:iam::123456789012:role/s",
      admin: "arn:aws:iam::123456789012:role/a",
    };
    const rights = {} as ConstructorParameters<typeof EksAccessEntries>[0]["rights"];
    const sleep = async () => {};
    const entries = new EksAccessEntries({
      eks,
      cluster: "prod",
      adminRole: roles.admin,
      rights,
      inVpc: false,
      clock,
      workUntil: new Date(Date.now() + 600_000),
      sleep,
    });
    const schedules = new SchedulerReleases({
      client: new SchedulerClient(config),
      clock,
      group: "releases",
      roleArn: roles.scheduler,
      releaseFunctionArn: "arn:aws:lambda:eu-west-1:123456789012:function:release",
    });
    const later = new SqsFollowUps(new SQSClient({ ...config, md5: false }), "https://sqs/queue");
    const pendingNodes = {
      kind: "pendingNodes",
      scope: "cluster",
      awaited: [aLaunch()],
      attempt: 1,
    } as const;
    const works: readonly (() => Promise<unknown>)[] = [
      () => holds.find("cluster"),
      () => holds.all(),
      () => holds.write(aRecord()),
      () => journal.history(5),
      () => journal.lastSweep(),
      () => journal.remember(aPastHold()),
      () => launches.find(["i-0123456789abcdef0"]),
      () => launches.since(noon),
      () => login.access(),
      () => entries.authentication(),
      () => entries.delete(roles.scheduler),
      () => schedules.arm("cluster", holdId(1), after(noon, minutes(20))),
      () => later.enqueue(pendingNodes, 0),
    ];
    try {
      for (const [n, work] of works.entries()) {
        const error = await errorOf(work());
        if (error === undefined) continue;
        expect(error, `work ${n}`).toBeInstanceOf(Error);
        expectSecret(everythingIn(error), secrets);
        expect(String(error)).not.toContain("[object Object]");
      }
      const server = await login.access().then(
        (access) => access.server,
        () => "https:",
      );
      expect(server).toMatch(/^https:/);
    } finally {
      await aws.close();
    }
  },
  { runs: 60, given: [answer], examples: always.map((body) => [{ status: 200, body, headers: {} }]) },
);
