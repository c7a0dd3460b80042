import { CloudWatchLogsClient, FilterLogEventsCommand } from "@aws-sdk/client-cloudwatch-logs";
import { DescribeAccessEntryCommand, EKSClient, ListAccessEntriesCommand } from "@aws-sdk/client-eks";
import {
  GetFunctionConfigurationCommand,
  InvokeCommand,
  LambdaClient,
  UpdateFunctionConfigurationCommand,
  waitUntilFunctionUpdatedV2,
} from "@aws-sdk/client-lambda";
import { ListSchedulesCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import {
  GetQueueAttributesCommand,
  ListQueuesCommand,
  PurgeQueueCommand,
  SendMessageCommand,
  SetQueueAttributesCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { CoreV1Api, type KubeConfig } from "@kubernetes/client-node";
import type { Duration } from "../../../lambda/core/duration.ts";
import { holdLabel, Karpenter } from "../../../lambda/core/marks/keys.ts";
import { functionName, type Part, scheduleGroupName } from "../../../lambda/names.ts";
import type { Emulator } from "../emulator/emulator.ts";
import type { EksPlane } from "../engines/eks-plane.ts";
import { until } from "../engines/processes.ts";
import { Instances, type Tags, tagsOf } from "./instances.ts";

export const queues = [
  "LaunchesQueue",
  "LaunchesDeadLetters",
  "LaunchesUndelivered",
  "FunctionsFailures",
] as const;
type Queue = (typeof queues)[number];
type Answer = Readonly<{ failed: boolean; said: Readonly<Record<string, unknown>> }>;

/** One cluster with its holder: what happens there, and what can be seen of it. */
export class DeployedCluster {
  readonly name: string;
  readonly core: CoreV1Api;
  readonly plane: EksPlane;
  readonly instances: Instances;
  readonly config: KubeConfig;
  readonly #emulator: Emulator;
  #nodes = 0;

  constructor(emulator: Emulator, name: string, plane: EksPlane) {
    this.#emulator = emulator;
    this.name = name;
    this.plane = plane;
    this.instances = new Instances(emulator);
    this.config = plane.config();
    this.core = this.config.makeApiClient(CoreV1Api);
  }

  /** An instance is launched; the bus hears of it as on AWS. */
  async launch(tags: Tags = tagsOf.v1(this.name)): Promise<string> {
    return (await this.launchMany(1, tags))[0] ?? "";
  }

  /** Many in one call, as Karpenter's fleets are. */
  async launchMany(count: number, tags: Tags = tagsOf.v1(this.name)): Promise<readonly string[]> {
    return this.instances.launch(count, tags);
  }

  /** The kubelet of an instance registers its node. */
  async join(
    instance: string,
    generation: keyof typeof Karpenter = "v1",
    nodePool = "default",
  ): Promise<string> {
    const name = `node-${++this.#nodes}`;
    const { poolLabel, registeredLabel } = Karpenter[generation];
    const metadata = { name, labels: { [poolLabel]: nodePool, [registeredLabel]: "true" } };
    await this.core.createNode({
      body: { metadata, spec: { providerID: `aws:///us-east-1a/${instance}` } },
    });
    return name;
  }

  /** Each node's hold, where label and annotation are both there. */
  async marks(annotation: string = Karpenter.v1.annotation): Promise<Record<string, string>> {
    const { items } = await this.core.listNode();
    return Object.fromEntries(
      items.flatMap(({ metadata }) => {
        const hold = metadata?.labels?.[holdLabel];
        const isMarked = hold && metadata?.annotations?.[annotation] === "true";
        return isMarked ? [[metadata?.name ?? "", hold]] : [];
      }),
    );
  }

  async untilMarked(nodes: readonly string[], annotation?: string, within = 45_000): Promise<string> {
    let marks: Record<string, string> = {};
    const areMarked = async () => {
      marks = await this.marks(annotation);
      return nodes.every((node) => marks[node]);
    };
    await until(`${nodes.join(" and ")} to be held`, areMarked, within, 250);
    return marks[nodes[0] ?? ""] ?? "";
  }

  async untilReleased(within: Duration, annotation?: string): Promise<void> {
    const areFree = async () => Object.keys(await this.marks(annotation)).length === 0;
    await until("every node to be released", areFree, within, 500);
  }

  /** Plain invocation, as by `aws lambda invoke`. */
  async invoke(part: Part, payload: object): Promise<Answer> {
    const answer = await this.#emulator.client(LambdaClient).send(
      new InvokeCommand({
        FunctionName: functionName(this.name, part),
        Payload: JSON.stringify(payload),
      }),
    );
    return {
      failed: answer.FunctionError !== undefined,
      said: JSON.parse(new TextDecoder().decode(answer.Payload)),
    };
  }

  /** Invocation that nobody waits for, as Scheduler does it. */
  async invokeLater(part: Part, payload: object): Promise<void> {
    const FunctionName = functionName(this.name, part);
    const command = { FunctionName, InvocationType: "Event", Payload: JSON.stringify(payload) } as const;
    await this.#emulator.client(LambdaClient).send(new InvokeCommand(command));
  }

  async control(payload: object): Promise<Readonly<Record<string, unknown>>> {
    return (await this.invoke("control", payload)).said;
  }

  /** Ends whatever is held; returns in another second, because launches are told with whole seconds. */
  async releaseAll(): Promise<Answer> {
    const answer = await this.invoke("release", { force: true, reason: "test" });
    await nextSecond();
    return answer;
  }

  /** Ends a pause; what is launched from here on counts. */
  async resume(): Promise<Readonly<Record<string, unknown>>> {
    const answer = await this.control({ do: "resume" });
    await nextSecond();
    return answer;
  }

  async logs(part: Part): Promise<string[]> {
    const logGroupName = `/aws/lambda/${functionName(this.name, part)}`;
    const { events = [] } = await this.#emulator
      .client(CloudWatchLogsClient)
      .send(new FilterLogEventsCommand({ logGroupName }));
    return events.map(({ message = "" }) => message);
  }

  async untilLogged(part: Part, text: RegExp, within: Duration = 30_000): Promise<void> {
    const isReported = async () => (await this.logs(part)).some((line) => text.test(line));
    await until(`${part} to log ${text}`, isReported, within, 500);
  }

  /** The one-shots of a hold, or of all. */
  async schedules(holdId = ""): Promise<string[]> {
    const { Schedules = [] } = await this.#emulator
      .client(SchedulerClient)
      .send(new ListSchedulesCommand({ GroupName: scheduleGroupName(this.name) }));
    return Schedules.map(({ Name = "" }) => Name).filter((name) => name.startsWith(holdId));
  }

  async role(part: Part): Promise<string> {
    const { Role = "" } = await this.#emulator
      .client(LambdaClient)
      .send(new GetFunctionConfigurationCommand({ FunctionName: functionName(this.name, part) }));
    return Role;
  }

  /** Roles that may log in, with the groups they then have. */
  async accessEntries(): Promise<Record<string, readonly string[]>> {
    const eks = this.#emulator.client(EKSClient);
    const { accessEntries = [] } = await eks.send(new ListAccessEntriesCommand({ clusterName: this.name }));
    const entries = accessEntries.map(async (principalArn) => {
      const command = new DescribeAccessEntryCommand({ clusterName: this.name, principalArn });
      return [principalArn, (await eks.send(command)).accessEntry?.kubernetesGroups ?? []] as const;
    });
    return Object.fromEntries(await Promise.all(entries));
  }

  async send(body: string, queue: Queue = "LaunchesQueue"): Promise<void> {
    const QueueUrl = await this.#queue(queue);
    await this.#emulator.client(SQSClient).send(new SendMessageCommand({ QueueUrl, MessageBody: body }));
  }

  /** What failed comes again after this time; deployed it is twelve minutes. */
  async bringAgainAfter(seconds: number): Promise<void> {
    const QueueUrl = await this.#queue("LaunchesQueue");
    const Attributes = { VisibilityTimeout: String(seconds) };
    await this.#emulator.client(SQSClient).send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));
  }

  /** Drops what waits in the queue, follow-ups too. */
  async forgetMessages(): Promise<void> {
    const QueueUrl = await this.#queue("LaunchesQueue");
    await this.#emulator.client(SQSClient).send(new PurgeQueueCommand({ QueueUrl }));
  }

  /** The next invocation finds no process of this function, and starts one. */
  async makeCold(part: Part): Promise<void> {
    const lambda = this.#emulator.client(LambdaClient);
    const FunctionName = functionName(this.name, part);
    const { Timeout } = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }));
    await lambda.send(new UpdateFunctionConfigurationCommand({ FunctionName, Timeout }));
    await waitUntilFunctionUpdatedV2({ client: lambda, maxWaitTime: 60 }, { FunctionName });
  }

  /** All of them, also those put off and those at work. */
  async messagesIn(queue: Queue): Promise<number> {
    const asked = new GetQueueAttributesCommand({
      QueueUrl: await this.#queue(queue),
      AttributeNames: [
        "ApproximateNumberOfMessages",
        "ApproximateNumberOfMessagesDelayed",
        "ApproximateNumberOfMessagesNotVisible",
      ],
    });
    const { Attributes = {} } = await this.#emulator.client(SQSClient).send(asked);
    return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
  }

  /** Throws away what waits in the queues, and what was given up. */
  async empty(): Promise<void> {
    for (const queue of queues) {
      const QueueUrl = await this.#queue(queue);
      await this.#emulator.client(SQSClient).send(new PurgeQueueCommand({ QueueUrl }));
    }
  }

  async #queue(queue: Queue): Promise<string> {
    const QueueNamePrefix = `karpenter-node-holder-${this.name}-`;
    const { QueueUrls = [] } = await this.#emulator
      .client(SQSClient)
      .send(new ListQueuesCommand({ QueueNamePrefix }));
    return QueueUrls.find((url) => url.includes(queue)) ?? "";
  }
}

/** EC2 tells launches in whole seconds: one in this second still counts as from before. */
async function nextSecond(): Promise<void> {
  const now = Math.floor(Date.now() / 1000);
  await until("the next second", async () => Math.floor(Date.now() / 1000) > now, 2_000, 50);
}
