import {
  CloudWatchClient,
  DescribeAlarmHistoryCommand,
  DescribeAlarmsCommand,
} from "@aws-sdk/client-cloudwatch";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { noHolder } from "../../control/control.ts";
import type { AwsConfig } from "../../terminal/cluster-flags.ts";
import { awsCluster } from "./cluster.ts";
import { awsFunctions } from "./functions.ts";
import { awsBus, awsQueues } from "./launch-path.ts";
import { awsSchedules } from "./schedules.ts";
import { textIn } from "./values.ts";

/** What doctor reads and fixes in AWS; undefined where a resource does not exist. */
export type Account = ReturnType<typeof awsAccount>;
export type AlarmFacts = Awaited<ReturnType<Account["alarms"]>>[number];

/** AWS as it is; reads everything with the caller's own rights. */
export function awsAccount(given: AwsConfig, cluster: string) {
  // Without limits of time, one service that does not answer would stop all checks.
  const timeLimits = { connectionTimeout: 5_000, requestTimeout: 20_000, throwOnRequestTimeout: true };
  const config = { ...given, requestHandler: timeLimits };
  return {
    ...awsFunctions(config, cluster),
    ...awsBus(config, cluster),
    ...awsQueues(config),
    ...awsSchedules(config),
    ...awsCluster(config),

    async identity(): Promise<string> {
      return textIn((await new STSClient(config).send(new GetCallerIdentityCommand())).Arn);
    },

    /** What to report where there is no holder for this cluster. */
    noHolder: () => noHolder(cluster, config),

    /** Those of these alarms that exist. */
    async alarms(names: readonly string[]) {
      const command = new DescribeAlarmsCommand({ AlarmNames: [...names], MaxRecords: 100 });
      const { MetricAlarms = [] } = await new CloudWatchClient(config).send(command);
      return MetricAlarms.map((alarm) => ({
        name: textIn(alarm.AlarmName),
        /** It ends with a link to the runbook. */
        description: textIn(alarm.AlarmDescription),
        state: textIn(alarm.StateValue),
        notifies: alarm.ActionsEnabled !== false && [alarm.AlarmActions ?? []].flat().length > 0,
        since: alarm.StateUpdatedTimestamp ?? new Date(0),
      }));
    },

    /** Those of these alarms that could not notify the last time that they changed, and why. */
    async unsent(names: readonly string[]) {
      const cloudWatch = new CloudWatchClient(config);
      const newest = { HistoryItemType: "Action", ScanBy: "TimestampDescending", MaxRecords: 1 } as const;
      const ask = async (name: string) => {
        const found = await cloudWatch.send(new DescribeAlarmHistoryCommand({ AlarmName: name, ...newest }));
        const why = textIn(found.AlarmHistoryItems?.[0]?.HistorySummary);
        return why.startsWith("Failed") ? [{ name, why }] : [];
      };
      return (await Promise.all(names.map(ask))).flat();
    },
  };
}
