import {
  CloudWatchClient,
  DescribeAlarmHistoryCommand,
  DescribeAlarmsCommand,
} from "@aws-sdk/client-cloudwatch";
import {
  CreateAccessEntryCommand,
  DeleteAccessEntryCommand,
  DescribeAccessEntryCommand,
  EKSClient,
  ListAssociatedAccessPoliciesCommand,
  UpdateAccessEntryCommand,
} from "@aws-sdk/client-eks";
import { GetRoleCommand, IAMClient, SimulatePrincipalPolicyCommand } from "@aws-sdk/client-iam";
import { GetScheduleCommand, paginateListSchedules, SchedulerClient } from "@aws-sdk/client-scheduler";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { isAws } from "../../../lambda/aws/errors.ts";
import { describeCluster } from "../../../lambda/aws/usable-cluster.ts";
import { holderName } from "../../../lambda/core/marks/keys.ts";
import { unlessGone } from "../../aws-errors.ts";
import { noHolder } from "../../control/control.ts";
import type { AwsConfig } from "../../terminal/cluster-flags.ts";
import { awsFunctions } from "./functions.ts";
import { awsBus, awsQueues } from "./launch-path.ts";
import { textIn } from "./values.ts";

/** What doctor reads and fixes in AWS; undefined where a resource does not exist. */
export type Account = ReturnType<typeof awsAccount>;
type Read<Name extends keyof Account> = NonNullable<Awaited<ReturnType<Account[Name]>>>;
export type FunctionFacts = Read<"functionOf">;
export type QueueFacts = Read<"queue">;
export type RuleFacts = Read<"ruleTo">;
export type ScheduleFacts = Read<"schedules">[number];
export type AlarmFacts = Read<"alarms">[number];

const mostSchedules = 1_000;

/** The functions pass a role to Scheduler alone; to any other action this says nothing. */
const toScheduler = {
  ContextKeyName: "iam:PassedToService",
  ContextKeyType: "string" as const,
  ContextKeyValues: ["scheduler.amazonaws.com"],
};

/** AWS as it is; reads everything with the caller's own rights. */
export function awsAccount(given: AwsConfig, cluster: string) {
  // Without limits of time, one service that does not answer would stop all checks.
  const timeLimits = { connectionTimeout: 5_000, requestTimeout: 20_000, throwOnRequestTimeout: true };
  const config = { ...given, requestHandler: timeLimits };
  const scheduler = new SchedulerClient(config);
  const eks = new EKSClient(config);
  const iam = new IAMClient(config);
  const cloudWatch = new CloudWatchClient(config);

  return {
    ...awsFunctions(config, cluster),
    ...awsBus(config, cluster),
    ...awsQueues(config),

    async identity(): Promise<string> {
      return textIn((await new STSClient(config).send(new GetCallerIdentityCommand())).Arn);
    },

    /** What to report where there is no holder for this cluster. */
    noHolder: () => noHolder(cluster, config),

    /** Every schedule of a group; a thousand at most. One that has fired meanwhile is gone. */
    schedules: (GroupName: string) =>
      unlessGone(async () => {
        const names: string[] = [];
        const pages = paginateListSchedules({ client: scheduler, stopOnSameToken: true }, { GroupName });
        for await (const { Schedules = [] } of pages) {
          names.push(...Schedules.map(({ Name }) => textIn(Name)));
          if (names.length >= mostSchedules) break;
        }
        const get = (Name: string) => scheduler.send(new GetScheduleCommand({ GroupName, Name }));
        const found = await Promise.all(names.map((Name) => unlessGone(() => get(Name))));
        return found
          .filter((one) => one !== undefined)
          .map(({ Name, State, ScheduleExpression, Target }) => ({
            name: textIn(Name),
            isEnabled: textIn(State) !== "DISABLED",
            expression: textIn(ScheduleExpression),
            targetArn: textIn(Target?.Arn),
            input: textIn(Target?.Input),
          }));
      }),

    /** A cluster as EKS knows it. */
    cluster: (name: string) => describeCluster(eks, name),

    /** The groups of a principal's access entry. */
    async accessGroups(clusterName: string, principalArn: string): Promise<readonly string[] | undefined> {
      const command = new DescribeAccessEntryCommand({ clusterName, principalArn });
      return (await unlessGone(() => eks.send(command)))?.accessEntry?.kubernetesGroups;
    },

    /** Since when a principal has the access policy of cluster admins. */
    async adminSince(clusterName: string, principalArn: string): Promise<Date | undefined> {
      const command = new ListAssociatedAccessPoliciesCommand({ clusterName, principalArn });
      const policies = (await unlessGone(() => eks.send(command)))?.associatedAccessPolicies;
      return policies?.find(({ policyArn }) => policyArn?.endsWith("ClusterAdminPolicy"))?.associatedAt;
    },

    /** Deletes the access entry of a principal, and with it every policy that is associated. */
    deleteEntry: (clusterName: string, principalArn: string): Promise<unknown> =>
      unlessGone(() => eks.send(new DeleteAccessEntryCommand({ clusterName, principalArn }))),

    async admit(clusterName: string, principalArn: string): Promise<void> {
      const entry = { clusterName, principalArn, kubernetesGroups: [holderName] };
      try {
        await eks.send(new CreateAccessEntryCommand({ ...entry, type: "STANDARD" }));
      } catch (error) {
        if (!isAws(error, "exists already")) throw error;
        await eks.send(new UpdateAccessEntryCommand(entry));
      }
    },

    /** The services and accounts that a role trusts, as the text of a policy. */
    async trust(arn: string): Promise<string | undefined> {
      const RoleName = arn.slice(arn.lastIndexOf("/") + 1);
      const found = await unlessGone(() => iam.send(new GetRoleCommand({ RoleName })));
      return found && textIn(found.Role?.AssumeRolePolicyDocument);
    },

    /** Which of these actions on a resource the policies of a role do not allow. */
    async refused(
      PolicySourceArn: string,
      actions: readonly string[],
      resource: string,
    ): Promise<readonly string[]> {
      const about = { PolicySourceArn, ActionNames: [...actions], ResourceArns: [resource] };
      const command = new SimulatePrincipalPolicyCommand({ ...about, ContextEntries: [toScheduler] });
      const { EvaluationResults = [] } = await iam.send(command);
      const allowed = EvaluationResults.filter(({ EvalDecision }) => textIn(EvalDecision) === "allowed");
      return actions.filter((action) => !allowed.some(({ EvalActionName: name }) => name === action));
    },

    /** Those of these alarms that exist. */
    async alarms(names: readonly string[]) {
      const command = new DescribeAlarmsCommand({ AlarmNames: [...names], MaxRecords: 100 });
      const { MetricAlarms = [] } = await cloudWatch.send(command);
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
