import { CloudWatchClient, paginateDescribeAlarms } from "@aws-sdk/client-cloudwatch";
import { DescribeTableCommand, DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { GetRoleCommand, IAMClient } from "@aws-sdk/client-iam";
import { GetScheduleCommand, GetScheduleGroupCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import type { Part } from "../../../lambda/names.ts";
import { unlessGone } from "../../aws-errors.ts";
import { findHolders } from "../../find-holders.ts";
import type { AwsConfig } from "../../terminal/cluster-flags.ts";
import { textIn } from "../checks/answered.ts";
import type { Account, AlarmFacts, QueueFacts } from "./account.ts";
import { AwsBus } from "./bus.ts";
import { AwsCluster } from "./cluster.ts";
import { AwsFunctions } from "./functions.ts";
import { AwsQueues } from "./queues.ts";

/** AWS as it is; reads everything with the caller's own rights. */
export class AwsAccount implements Account {
  readonly #config: AwsConfig;
  readonly #functions: AwsFunctions;
  readonly #bus: AwsBus;
  readonly #queues: AwsQueues;
  readonly #cluster: AwsCluster;

  constructor(config: AwsConfig, cluster: string) {
    this.#config = config;
    this.#functions = new AwsFunctions(config, cluster);
    this.#bus = new AwsBus(config, cluster);
    this.#queues = new AwsQueues(config);
    this.#cluster = new AwsCluster(config, cluster);
  }

  async identity() {
    const { Account, Arn } = await new STSClient(this.#config).send(new GetCallerIdentityCommand());
    return { account: textIn(Account) ?? "", arn: textIn(Arn) ?? "" };
  }

  async holders() {
    return (await findHolders(this.#config)).found;
  }

  functionOf = (part: Part) => this.#functions.find(part);
  mapping = (functionName: string, queueArn: string) => this.#functions.mapping(functionName, queueArn);
  enableMapping = (id: string) => this.#functions.enableMapping(id);
  sweepNow = () => this.#functions.sweepNow();

  launchRule = () => this.#bus.launchRule();
  ruleThatTargets = (arn: string) => this.#bus.ruleThatTargets(arn);
  enableRule = (name: string) => this.#bus.enableRule(name);
  putProbe = (id: string, sentAt: Date) => this.#bus.putProbe(id, sentAt);

  queue = (urlOrArn: string) => this.#queues.find(urlOrArn);
  letRuleSend = (queue: QueueFacts, ruleArn: string) => this.#queues.letRuleSend(queue, ruleArn);

  cluster = () => this.#cluster.find();
  accessGroups = (principalArn: string) => this.#cluster.accessGroups(principalArn);
  admit = (principalArn: string) => this.#cluster.admit(principalArn);
  adminSince = (principalArn: string) => this.#cluster.adminSince(principalArn);
  deleteEntry = (principalArn: string) => this.#cluster.deleteEntry(principalArn);

  async tableStatus(TableName: string) {
    const ask = () => new DynamoDBClient(this.#config).send(new DescribeTableCommand({ TableName }));
    return textIn((await unlessGone(ask))?.Table?.TableStatus);
  }

  async scheduleGroup(Name: string) {
    const ask = () => new SchedulerClient(this.#config).send(new GetScheduleGroupCommand({ Name }));
    return textIn((await unlessGone(ask))?.State);
  }

  async scheduleExists(GroupName: string, Name: string) {
    const ask = () => new SchedulerClient(this.#config).send(new GetScheduleCommand({ GroupName, Name }));
    return (await unlessGone(ask)) !== undefined;
  }

  async role(arn: string) {
    const RoleName = arn.split("/").at(-1) ?? arn;
    const found = await unlessGone(() => new IAMClient(this.#config).send(new GetRoleCommand({ RoleName })));
    const trust = found?.Role?.AssumeRolePolicyDocument;
    return found && { trust: trust ? JSON.parse(decodeURIComponent(trust)) : undefined };
  }

  async alarms(AlarmNamePrefix: string) {
    const client = new CloudWatchClient(this.#config);
    const found: AlarmFacts[] = [];
    for await (const page of paginateDescribeAlarms({ client, stopOnSameToken: true }, { AlarmNamePrefix })) {
      for (const alarm of page.MetricAlarms ?? []) {
        const { AlarmName, AlarmDescription, StateValue, StateUpdatedTimestamp: since } = alarm;
        found.push({
          name: textIn(AlarmName) ?? "",
          description: textIn(AlarmDescription) ?? "",
          state: textIn(StateValue) ?? "",
          ...(since && { since }),
        });
      }
    }
    return found;
  }
}
