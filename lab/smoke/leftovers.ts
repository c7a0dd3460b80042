import { CloudWatchClient, DescribeAlarmsCommand } from "@aws-sdk/client-cloudwatch";
import { CloudWatchLogsClient, DescribeLogGroupsCommand } from "@aws-sdk/client-cloudwatch-logs";
import { DynamoDBClient, paginateListTables } from "@aws-sdk/client-dynamodb";
import { EKSClient, paginateListAccessEntries } from "@aws-sdk/client-eks";
import { GetFunctionCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { GetScheduleGroupCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { ListQueuesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { unlessGone } from "../../cli/aws-errors.ts";
import { alarmNames, functionName, parts, scheduleGroupName, stackName } from "../../infra/names.ts";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { type Check, judgedEmpty, type Smoke } from "./smoke.ts";

/** Checks that after a destroy nothing of this holder is left in the account. */
export const leftoversCheck: Check = {
  assumption: "a destroy leaves nothing in the account",
  expected: "nothing",
  // Deleted is not the same as no longer listed.
  look: ({ smoke }) => judgedEmpty(smoke, { every: seconds(5), within: minutes(1) }, () => leftovers(smoke)),
};

async function leftovers({ aws, cluster }: Smoke): Promise<readonly string[]> {
  const lambda = new LambdaClient(aws);
  const scheduler = new SchedulerClient(aws);
  const stack = stackName(cluster);
  const Name = scheduleGroupName(cluster);
  const functions = parts.map((part) => functionName(cluster, part));
  const found = await Promise.all([
    ...functions.map((FunctionName) =>
      named(FunctionName, lambda.send(new GetFunctionCommand({ FunctionName }))),
    ),
    named(`schedule group ${Name}`, scheduler.send(new GetScheduleGroupCommand({ Name }))),
    logGroups(new CloudWatchLogsClient(aws), functions, `${stack}-Holder`),
    new CloudWatchClient(aws)
      .send(new DescribeAlarmsCommand({ AlarmNames: [...alarmNames(cluster)] }))
      .then(({ MetricAlarms = [] }) => MetricAlarms.map(({ AlarmName }) => `alarm ${AlarmName}`)),
    new SQSClient(aws)
      .send(new ListQueuesCommand({ QueueNamePrefix: `${stack}-Holder` }))
      .then(({ QueueUrls = [] }) => QueueUrls.map((url) => `queue ${url}`)),
    tables(new DynamoDBClient(aws), `${stack}-Holder`),
    accessEntries(new EKSClient(aws), cluster, `/${stack}-Holder`),
  ]);
  return found.flat();
}

/** The name, if the resource exists. */
const named = (name: string, asked: Promise<unknown>): Promise<readonly string[]> =>
  unlessGone(asked).then((found) => (found === undefined ? [] : [name]));

/** The groups of these functions, and those whose names CloudFormation made. A shorter prefix finds other clusters'. */
async function logGroups(
  client: CloudWatchLogsClient,
  functions: readonly string[],
  generated: string,
): Promise<readonly string[]> {
  const ofFunctions = functions.map((name) => `/aws/lambda/${name}`);
  const found = await Promise.all(
    [...ofFunctions, `/aws/lambda/${generated}`, generated].map((logGroupNamePrefix) =>
      client.send(new DescribeLogGroupsCommand({ logGroupNamePrefix })),
    ),
  );
  return found
    .flatMap(({ logGroups = [] }) => logGroups.map(({ logGroupName = "" }) => logGroupName))
    .filter((name) => name.includes(generated) || ofFunctions.includes(name))
    .map((name) => `log group ${name}`);
}

async function tables(client: DynamoDBClient, prefix: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { TableNames = [] } of paginateListTables({ client }, {})) found.push(...TableNames);
  return found.filter((name) => name.startsWith(prefix)).map((name) => `table ${name}`);
}

async function accessEntries(
  client: EKSClient,
  clusterName: string,
  role: string,
): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { accessEntries = [] } of paginateListAccessEntries({ client }, { clusterName }))
    found.push(...accessEntries);
  return found.filter((arn) => arn.includes(role)).map((arn) => `access entry of ${arn}`);
}
