import { CloudWatchClient, DescribeAlarmsCommand } from "@aws-sdk/client-cloudwatch";
import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { GetRoleCommand, IAMClient, SimulatePrincipalPolicyCommand } from "@aws-sdk/client-iam";
import {
  GetScheduleCommand,
  type GetScheduleCommandOutput,
  GetScheduleGroupCommand,
  paginateListSchedules,
  SchedulerClient,
} from "@aws-sdk/client-scheduler";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { unlessGone } from "../../aws-errors.ts";
import { findHolders } from "../../control/control.ts";
import type { AwsConfig } from "../../terminal/cluster-flags.ts";
import { type Account, type ScheduleFacts, textIn } from "./account.ts";
import { awsCluster } from "./cluster.ts";
import { awsFunctions } from "./functions.ts";
import { awsBus, awsQueues } from "./launch-path.ts";

const mostSchedules = 1_000;

/** AWS as it is; reads everything with the caller's own rights. */
export function awsAccount(given: AwsConfig, cluster: string): Account {
  // Without limits of time, one service that does not answer would stop all checks.
  const timeLimits = { connectionTimeout: 5_000, requestTimeout: 20_000, throwOnRequestTimeout: true };
  const config = { ...given, requestHandler: timeLimits };
  const iam = new IAMClient(config);
  const scheduler = new SchedulerClient(config);
  return {
    ...awsFunctions(config, cluster),
    ...awsBus(config, cluster),
    ...awsQueues(config),
    ...awsCluster(config, cluster),

    async identity() {
      const { Account, Arn } = await new STSClient(config).send(new GetCallerIdentityCommand());
      return { account: textIn(Account) ?? "", arn: textIn(Arn) ?? "" };
    },

    async holders() {
      return (await findHolders(config)).found;
    },

    async tableStatus(TableName) {
      const ask = () => new DynamoDBClient(config).send(new DescribeTableCommand({ TableName }));
      return textIn((await unlessGone(ask))?.Table?.TableStatus);
    },

    async scheduleGroup(Name) {
      const ask = () => scheduler.send(new GetScheduleGroupCommand({ Name }));
      return textIn((await unlessGone(ask))?.State);
    },

    async schedules(GroupName) {
      const names = (await unlessGone(() => schedulesIn(scheduler, GroupName))) ?? [];
      const found = names.map((Name) =>
        unlessGone(() => scheduler.send(new GetScheduleCommand({ GroupName, Name }))),
      );
      // One that has fired meanwhile is gone.
      return (await Promise.all(found)).flatMap((one) => (one ? [scheduleFacts(one)] : []));
    },

    async role(arn) {
      const RoleName = arn.split("/").at(-1) ?? arn;
      const found = await unlessGone(() => iam.send(new GetRoleCommand({ RoleName })));
      const trust = found?.Role?.AssumeRolePolicyDocument;
      return found && { trust: trust ? JSON.parse(decodeURIComponent(trust)) : undefined };
    },

    async refused(PolicySourceArn, ActionNames, resource) {
      const about = { PolicySourceArn, ActionNames: [...ActionNames], ResourceArns: [resource] };
      const { EvaluationResults = [] } = await iam.send(new SimulatePrincipalPolicyCommand(about));
      const allowed = EvaluationResults.filter(({ EvalDecision }) => textIn(EvalDecision) === "allowed");
      return ActionNames.filter((action) => !allowed.some(({ EvalActionName: name }) => name === action));
    },

    async alarms(names) {
      const command = new DescribeAlarmsCommand({ AlarmNames: [...names], MaxRecords: 100 });
      const { MetricAlarms = [] } = await new CloudWatchClient(config).send(command);
      return MetricAlarms.map((alarm) => {
        const { AlarmName, AlarmDescription, StateValue, StateUpdatedTimestamp: since } = alarm;
        return {
          name: textIn(AlarmName) ?? "",
          description: textIn(AlarmDescription) ?? "",
          state: textIn(StateValue) ?? "",
          notifies: alarm.ActionsEnabled !== false && [alarm.AlarmActions ?? []].flat().length > 0,
          ...(since && { since }),
        };
      });
    },
  };
}

async function schedulesIn(client: SchedulerClient, GroupName: string): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { Schedules = [] } of paginateListSchedules(
    { client, stopOnSameToken: true },
    { GroupName },
  )) {
    names.push(...Schedules.map(({ Name }) => textIn(Name) ?? ""));
    if (names.length >= mostSchedules) break;
  }
  return names;
}

const scheduleFacts = ({
  Name,
  State,
  ScheduleExpression,
  Target,
}: GetScheduleCommandOutput): ScheduleFacts => ({
  name: textIn(Name) ?? "",
  isEnabled: textIn(State) !== "DISABLED",
  expression: textIn(ScheduleExpression) ?? "",
  targetArn: textIn(Target?.Arn) ?? "",
  input: textIn(Target?.Input) ?? "",
});
