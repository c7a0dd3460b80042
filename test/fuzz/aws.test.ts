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
import { answers, secretly, secrets } from "./aws-answers.ts";
import { errorOf, everythingIn, expectSecret, fuzzed } from "./fuzz.ts";

const clock = { now: () => noon };
const arn = (service: string, name: string) => `arn:aws:${service}:eu-west-1:123456789012:${name}`;
/** Answers that could send our login elsewhere, or make us retry for ever. */
const always = [
  '{"cluster":{"endpoint":"http://elsewhere","certificateAuthority":{"data":"Y2E="}}}',
  "<DescribeInstancesResponse><nextToken>round</nextToken></DescribeInstancesResponse>",
];

fuzzed(
  "malformed answers of AWS end in a result or an error, and reveal no key",
  async (reported) => {
    const aws = await fakeAws(() => reported);
    const config = secretly(aws.client);
    const database = new DynamoDBClient(config);
    const eks = new EKSClient(config);
    const { holds, journal } = storeOf(new DynamodbTable(database, "holds"), clock);
    const launches = new Ec2Launches(new EC2Client(config), "prod");
    const login = new EksLogin({ cluster: "prod", eks, clock });
    const rights = {} as ConstructorParameters<typeof EksAccessEntries>[0]["rights"];
    const entries = new EksAccessEntries({
      eks,
      cluster: "prod",
      adminRole: arn("iam", "role/a"),
      rights,
      inVpc: false,
      clock,
      workUntil: new Date(Date.now() + 600_000),
      sleep: async () => {},
    });
    const schedules = new SchedulerReleases({
      client: new SchedulerClient(config),
      clock,
      group: "releases",
      roleArn: arn("iam", "role/s"),
      releaseFunctionArn: arn("lambda", "function:release"),
    });
    const later = new SqsFollowUps(new SQSClient(config), "https://sqs/queue");
    const followUp = {
      kind: "launches",
      launches: [aLaunch()],
      firstSeenAt: noon,
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
      () => entries.delete(arn("iam", "role/s")),
      () => schedules.arm("cluster", holdId(1), after(noon, minutes(20))),
      () => later.enqueue(followUp, 0),
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
  { runs: 60, given: [answers], examples: always.map((body) => [{ status: 200, body, headers: {} }]) },
);
