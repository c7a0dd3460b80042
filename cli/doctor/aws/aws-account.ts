import { CloudWatchClient, DescribeAlarmsCommand } from "@aws-sdk/client-cloudwatch";
import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { GetRoleCommand, IAMClient } from "@aws-sdk/client-iam";
import { GetScheduleCommand, GetScheduleGroupCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { unlessGone } from "../../aws-errors.ts";
import { findHolders } from "../../control/control.ts";
import type { AwsConfig } from "../../terminal/cluster-flags.ts";
import { type Account, textIn } from "./account.ts";
import { awsCluster } from "./cluster.ts";
import { awsFunctions } from "./functions.ts";
import { awsBus, awsQueues } from "./launch-path.ts";

/** AWS as it is; reads everything with the caller's own rights. */
export const awsAccount = (config: AwsConfig, cluster: string): Account => ({
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
    const ask = () => new SchedulerClient(config).send(new GetScheduleGroupCommand({ Name }));
    return textIn((await unlessGone(ask))?.State);
  },

  async scheduleExists(GroupName, Name) {
    const ask = () => new SchedulerClient(config).send(new GetScheduleCommand({ GroupName, Name }));
    return (await unlessGone(ask)) !== undefined;
  },

  async role(arn) {
    const RoleName = arn.split("/").at(-1) ?? arn;
    const found = await unlessGone(() => new IAMClient(config).send(new GetRoleCommand({ RoleName })));
    const trust = found?.Role?.AssumeRolePolicyDocument;
    return found && { trust: trust ? JSON.parse(decodeURIComponent(trust)) : undefined };
  },

  async alarms(names) {
    const command = new DescribeAlarmsCommand({ AlarmNames: [...names], MaxRecords: 100 });
    const { MetricAlarms = [] } = await new CloudWatchClient(config).send(command);
    return MetricAlarms.map(({ AlarmName, AlarmDescription, StateValue, StateUpdatedTimestamp: since }) => ({
      name: textIn(AlarmName) ?? "",
      description: textIn(AlarmDescription) ?? "",
      state: textIn(StateValue) ?? "",
      ...(since && { since }),
    }));
  },
});
