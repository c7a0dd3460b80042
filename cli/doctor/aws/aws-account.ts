import { CloudWatch } from "@aws-sdk/client-cloudwatch";
import { EKS } from "@aws-sdk/client-eks";
import { type ContextEntry, IAM } from "@aws-sdk/client-iam";
import { Lambda } from "@aws-sdk/client-lambda";
import { Scheduler } from "@aws-sdk/client-scheduler";
import { STS } from "@aws-sdk/client-sts";
import { functionName, type Part } from "../../../infra/names.ts";
import { describeCluster } from "../../../lambda/aws/usable-cluster.ts";
import { type Duration, seconds } from "../../../lambda/core/duration.ts";
import { holderName } from "../../../lambda/core/marks/keys.ts";
import { unlessGone } from "../../aws-errors.ts";
import { invoke, noHolder } from "../../control/control.ts";
import { type AwsConfig, withTimeLimits } from "../../terminal/cluster-flags.ts";
import { readLog } from "../finding.ts";
import { awsLaunchPath } from "./launch-path.ts";

/** What doctor reads and fixes in AWS; undefined where a resource does not exist. */
export type Account = ReturnType<typeof awsAccount>;
type Read<Name extends keyof Account> = NonNullable<Awaited<ReturnType<Account[Name]>>>;
export type FunctionFacts = Read<"functionOf">;
export type QueueFacts = Read<"queue">;
export type RuleFacts = Read<"ruleTo">;
export type ScheduleFacts = Read<"schedules">[number];
export type AlarmFacts = Read<"alarms">[number];

/** Of a group no more are read. */
export const mostSchedules = 1_000;

/** AWS as it is; reads everything with the caller's own rights. A function that hangs is waited for until the signal comes. */
export function awsAccount(given: AwsConfig, cluster: string, ended?: AbortSignal) {
  const config = withTimeLimits(given, seconds(20));
  const lambda = new Lambda(config);
  const scheduler = new Scheduler(config);
  const eks = new EKS(config);
  const iam = new IAM(config);
  const sts = new STS(config);
  const cloudWatch = new CloudWatch(config);

  /** The groups of a principal's access entry, which may have none. */
  async function accessGroups(
    clusterName: string,
    principalArn: string,
  ): Promise<readonly string[] | undefined> {
    const found = await unlessGone(eks.describeAccessEntry({ clusterName, principalArn }));
    return found && (found.accessEntry?.kubernetesGroups ?? []);
  }

  async function readSchedule(GroupName: string, Name: string | undefined) {
    const found = await unlessGone(scheduler.getSchedule({ GroupName, Name }));
    return (
      found && {
        name: found.Name ?? "",
        isEnabled: found.State !== "DISABLED",
        expression: found.ScheduleExpression ?? "",
        targetArn: found.Target?.Arn ?? "",
        input: found.Target?.Input ?? "",
      }
    );
  }

  async function readSchedules(GroupName: string) {
    const read: Awaited<ReturnType<typeof readSchedule>>[] = [];
    const pages = scheduler.paginateListSchedules({ GroupName }, { stopOnSameToken: true });
    // Page by page: requests that wait for a free connection for too long would fail.
    for await (const { Schedules = [] } of pages) {
      read.push(...(await Promise.all(Schedules.map(({ Name }) => readSchedule(GroupName, Name)))));
      if (read.length >= mostSchedules) break;
    }
    return read.filter((one) => one !== undefined);
  }

  return {
    ...awsLaunchPath(config, cluster),

    identity: async (): Promise<string> => (await sts.getCallerIdentity()).Arn ?? "",

    /** What to report where there is no holder for this cluster. */
    noHolder: () => noHolder(cluster, config),

    async functionOf(part: Part) {
      const FunctionName = functionName(cluster, part);
      const found = await unlessGone(lambda.getFunctionConfiguration({ FunctionName }));
      if (!found) return undefined;
      const [{ ReservedConcurrentExecutions: reservedConcurrency }, invocations] = await Promise.all([
        lambda.getFunctionConcurrency({ FunctionName }),
        unlessGone(lambda.getFunctionEventInvokeConfig({ FunctionName, Qualifier: "$LATEST" })),
      ]);
      return {
        name: FunctionName,
        arn: found.FunctionArn ?? "",
        roleArn: found.Role ?? "",
        state: found.State || "Active",
        lastUpdate: found.LastUpdateStatus ?? "",
        /** When it was last deployed or reconfigured. */
        changedAt: new Date(found.LastModified || 0),
        inVpc: (found.VpcConfig?.SubnetIds ?? []).length > 0,
        env: found.Environment?.Variables ?? {},
        /** 0: it was turned off. */
        reservedConcurrency,
        /** The destination of asynchronous invocations that failed. */
        failuresArn: invocations?.DestinationConfig?.OnFailure?.Destination ?? "",
      };
    },

    async hasAlias(part: Part, Qualifier: string): Promise<boolean> {
      const found = lambda.getFunctionConfiguration({ FunctionName: functionName(cluster, part), Qualifier });
      return (await unlessGone(found)) !== undefined;
    },

    async mapping(FunctionName: string, EventSourceArn: string) {
      const { EventSourceMappings = [] } = await lambda.listEventSourceMappings({
        FunctionName,
        EventSourceArn,
      });
      const [found] = EventSourceMappings;
      if (!found) return undefined;
      const { UUID, State, LastProcessingResult } = found;
      return { id: UUID ?? "", state: State ?? "", lastResult: LastProcessingResult ?? "" };
    },

    enableMapping: (UUID: string): Promise<unknown> =>
      lambda.updateEventSourceMapping({ UUID, Enabled: true }),

    /** Invokes a function, and returns its answer; throws the error that it reports. */
    invoke(part: Part, request: object, within?: Duration): Promise<unknown> {
      const otherwise = readLog(functionName(cluster, part));
      const options = { ...(within && { within }), ...(ended && { abortSignal: ended }) };
      return invoke(config, { cluster, part, request, otherwise, ...options });
    },

    /** Every schedule of a group; a thousand at most. One that has fired meanwhile is gone. */
    schedules: (group: string) => unlessGone(readSchedules(group)),

    /** A cluster as EKS knows it. */
    cluster: (name: string) => describeCluster(eks, name),

    accessGroups,

    /** Since when a principal has the access policy of cluster admins. */
    async adminSince(clusterName: string, principalArn: string): Promise<Date | undefined> {
      const found = await unlessGone(eks.listAssociatedAccessPolicies({ clusterName, principalArn }));
      const isAdmins = ({ policyArn = "" }) => policyArn.endsWith("ClusterAdminPolicy");
      return found?.associatedAccessPolicies?.find(isAdmins)?.associatedAt;
    },

    /** Deletes the access entry of a principal, and with it every policy that is associated. */
    deleteEntry: (clusterName: string, principalArn: string): Promise<unknown> =>
      unlessGone(eks.deleteAccessEntry({ clusterName, principalArn })),

    /** Puts a principal into our group, by a new access entry, or beside the groups of the one that it has. */
    async admit(clusterName: string, principalArn: string): Promise<unknown> {
      const groups = await accessGroups(clusterName, principalArn);
      const entry = { clusterName, principalArn, kubernetesGroups: withOurs(groups) };
      return groups ? eks.updateAccessEntry(entry) : eks.createAccessEntry(entry);
    },

    /** The services and accounts that a role trusts, as the text of a policy. */
    async trust(arn: string): Promise<string | undefined> {
      const found = await unlessGone(iam.getRole({ RoleName: arn.slice(arn.lastIndexOf("/") + 1) }));
      return found && (found.Role?.AssumeRolePolicyDocument ?? "");
    },

    /** Which of these actions on a resource the policies of a role do not allow. */
    async refused(role: string, actions: readonly string[], resource: string): Promise<readonly string[]> {
      const { EvaluationResults = [] } = await iam.simulatePrincipalPolicy({
        PolicySourceArn: role,
        ActionNames: [...actions],
        ResourceArns: [resource],
        ContextEntries: [toScheduler],
      });
      const allowed = EvaluationResults.filter(({ EvalDecision }) => EvalDecision === "allowed");
      return actions.filter((action) => !allowed.some(({ EvalActionName: name }) => name === action));
    },

    /** Those of these alarms that exist. */
    async alarms(names: readonly string[]) {
      const { MetricAlarms = [] } = await cloudWatch.describeAlarms({
        AlarmNames: [...names],
        MaxRecords: 100,
      });
      return MetricAlarms.map((alarm) => ({
        name: alarm.AlarmName ?? "",
        /** It ends with a link to the runbook. */
        description: alarm.AlarmDescription ?? "",
        state: alarm.StateValue ?? "",
        notifies: alarm.ActionsEnabled !== false && [alarm.AlarmActions ?? []].flat().length > 0,
        since: alarm.StateUpdatedTimestamp ?? new Date(0),
      }));
    },

    /** Those of these alarms that could not notify the last time that they changed, and why. */
    async unsent(names: readonly string[]) {
      const newest = { HistoryItemType: "Action", ScanBy: "TimestampDescending", MaxRecords: 1 } as const;
      const whys = await Promise.all(
        names.map(async (name) => {
          const found = await cloudWatch.describeAlarmHistory({ AlarmName: name, ...newest });
          return { name, why: found.AlarmHistoryItems?.[0]?.HistorySummary ?? "" };
        }),
      );
      return whys.filter(({ why }) => why.startsWith("Failed"));
    },
  };
}

/** These groups and ours: EKS replaces all groups of an entry. */
export const withOurs = (groups: readonly string[] = []): string[] => [...new Set([...groups, holderName])];

/** The functions pass a role to Scheduler alone; to any other action this says nothing. */
const toScheduler: ContextEntry = {
  ContextKeyName: "iam:PassedToService",
  ContextKeyType: "string",
  ContextKeyValues: ["scheduler.amazonaws.com"],
};
