import { DescribeInstancesCommand, EC2Client } from "@aws-sdk/client-ec2";
import { EKSClient } from "@aws-sdk/client-eks";
import { EventBridgeClient, ListRulesCommand, TestEventPatternCommand } from "@aws-sdk/client-eventbridge";
import { GetRoleCommand, IAMClient } from "@aws-sdk/client-iam";
import { GetAccountSettingsCommand, GetFunctionCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { describeCluster, whyUnusable } from "../../lambda/aws/usable-cluster.ts";
import { launchesAndProbes, probeDetailType, probeSource } from "../../lambda/handlers/event-sources.ts";
import { functionName } from "../../lambda/names.ts";
import { type Check, judged, type Seen, type Smoke } from "./smoke.ts";

/** Checks that create nothing. */
export const accountChecks = (smoke: Smoke, inVpc: boolean): readonly Check[] => [
  {
    assumption: "account and region are bootstrapped for the CDK",
    expected: "the role that deploys",
    look: () => bootstrap(smoke),
  },
  {
    assumption: "the cluster can have a holder",
    expected: "active, access entries allowed, endpoint reachable",
    look: () => cluster(smoke, inVpc),
  },
  {
    assumption: "no holder is deployed for it yet",
    expected: "no control function",
    look: () => holder(smoke),
  },
  {
    assumption: "Lambda runs enough functions at once",
    expected: "a quota of 10 or more",
    look: () => concurrency(smoke),
  },
  {
    assumption: "the default event bus has room for two rules",
    expected: `at most ${rulesQuota(smoke) - 2} of ${rulesQuota(smoke)}`,
    look: () => rules(smoke),
  },
  {
    assumption: "EC2 describes managed instances on request",
    expected: "accepted",
    look: () => managedInstances(smoke),
  },
  {
    assumption: "the rule's pattern matches launches and probes only",
    expected: "pending and own probe match; running and another cluster's do not",
    look: () => pattern(smoke),
  },
];

/** The quota that AWS gives at first. */
const rulesQuota = ({ region }: Smoke): number => (["af-south-1", "eu-south-1"].includes(region) ? 100 : 300);

async function bootstrap({ aws, account, region }: Smoke): Promise<Seen> {
  const RoleName = `cdk-hnb659fds-deploy-role-${account}-${region}`;
  try {
    await new IAMClient(aws).send(new GetRoleCommand({ RoleName }));
  } catch (error) {
    if (!(error instanceof Error) || !error.name.startsWith("NoSuchEntity")) throw error;
    return judged(false, `none: npx cdk bootstrap aws://${account}/${region}`);
  }
  return judged(true, RoleName);
}

async function cluster(smoke: Smoke, inVpc: boolean): Promise<Seen> {
  const found = await describeCluster(new EKSClient(smoke.aws), smoke.cluster);
  const why = whyUnusable(smoke.cluster, found, { inVpc });
  if (why) return judged(false, `${why.reason}: ${why.remedy}`);
  return judged(
    true,
    `${found?.status}, Kubernetes ${found?.version}, ${found?.authenticationMode}, reachable`,
  );
}

async function holder(smoke: Smoke): Promise<Seen> {
  const name = functionName(smoke.cluster, "control");
  try {
    await new LambdaClient(smoke.aws).send(new GetFunctionCommand({ FunctionName: name }));
  } catch (error) {
    if (error instanceof Error && error.name === "ResourceNotFoundException") return judged(true, "none");
    throw error;
  }
  return judged(false, `${name} is there: smoke would deploy over it, and destroy it`);
}

async function concurrency(smoke: Smoke): Promise<Seen> {
  const { AccountLimit } = await new LambdaClient(smoke.aws).send(new GetAccountSettingsCommand({}));
  const { ConcurrentExecutions = 0, UnreservedConcurrentExecutions = 0 } = AccountLimit ?? {};
  const seen = `${ConcurrentExecutions}, ${UnreservedConcurrentExecutions} of them unreserved`;
  return judged(UnreservedConcurrentExecutions >= 10, seen);
}

async function rules(smoke: Smoke): Promise<Seen> {
  const client = new EventBridgeClient(smoke.aws);
  let count = 0;
  let NextToken: string | undefined;
  do {
    const page = await client.send(new ListRulesCommand({ ...(NextToken && { NextToken }) }));
    count += page.Rules?.length ?? 0;
    NextToken = page.NextToken;
  } while (NextToken);
  return judged(count <= rulesQuota(smoke) - 2, `${count} rules`);
}

async function managedInstances(smoke: Smoke): Promise<Seen> {
  const command = new DescribeInstancesCommand({ IncludeManagedResources: true, MaxResults: 5 });
  await new EC2Client(smoke.aws).send(command);
  return judged(true, "accepted");
}

async function pattern(smoke: Smoke): Promise<Seen> {
  const client = new EventBridgeClient(smoke.aws);
  const EventPattern = JSON.stringify(launchesAndProbes(smoke));
  const matches = async (source: string, type: string, detail: object) => {
    const event = {
      version: "0",
      id: "6a7e8feb-b491-4cf7-a9f1-bf3703467718",
      "detail-type": type,
      source,
      account: smoke.account,
      time: "2026-01-31T09:30:00Z",
      region: smoke.region,
      resources: [],
      detail,
    };
    const command = new TestEventPatternCommand({ EventPattern, Event: JSON.stringify(event) });
    return (await client.send(command)).Result === true;
  };
  const ec2 = "EC2 Instance State-change Notification";
  const instance = "i-0123456789abcdef0";
  const seen = {
    pending: await matches("aws.ec2", ec2, { "instance-id": instance, state: "pending" }),
    running: await matches("aws.ec2", ec2, { "instance-id": instance, state: "running" }),
    "own probe": await matches(probeSource, probeDetailType, { cluster: smoke.cluster }),
    "another's probe": await matches(probeSource, probeDetailType, { cluster: "another" }),
  };
  const isRight = seen.pending && seen["own probe"] && !seen.running && !seen["another's probe"];
  const matched = Object.entries(seen).filter(([, isMatch]) => isMatch);
  return judged(isRight, `matched: ${matched.map(([name]) => name).join(", ") || "none"}`);
}
