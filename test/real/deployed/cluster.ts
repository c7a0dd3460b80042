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
  StartMessageMoveTaskCommand,
} from "@aws-sdk/client-sqs";
import { CoreV1Api, type KubeConfig, KubernetesObjectApi } from "@kubernetes/client-node";
import { functionName, type Part, scheduleGroupName } from "../../../infra/names.ts";
import { accessManifest } from "../../../lambda/cluster-access/manifest.ts";
import { holderName, holdLabel, Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { Emulator } from "../emulator/emulator.ts";
import type { ControlPlane } from "../engines/control-plane.ts";
import { patience, until } from "../engines/processes.ts";
import { Instances, karpentersTags, type Tags } from "./instances.ts";

const queues = ["LaunchesQueue", "LaunchesDeadLetters", "LaunchesUndelivered", "FunctionsFailures"] as const;
type Queue = (typeof queues)[number];
type Answer = Readonly<{ failed: boolean; answer: Readonly<Record<string, unknown>> }>;

/** One cluster with its deployed holder: actions and observations. */
export class DeployedCluster {
  readonly name: string;
  readonly core: CoreV1Api;
  readonly plane: ControlPlane;
  readonly instances: Instances;
  readonly config: KubeConfig;
  readonly #emulator: Emulator;
  #nodes = 0;

  constructor(emulator: Emulator, name: string, plane: ControlPlane) {
    this.#emulator = emulator;
    this.name = name;
    this.plane = plane;
    this.instances = new Instances(emulator);
    this.config = plane.config();
    this.core = this.config.makeApiClient(CoreV1Api);
  }

  /** Launches an instance; its events reach the bus as on AWS. */
  async launch(tags: Tags = karpentersTags(this.name)): Promise<string> {
    return (await this.launchMany(1, tags))[0] ?? "";
  }

  /** Launches many in one call, as Karpenter's fleets do. */
  async launchMany(count: number, tags: Tags = karpentersTags(this.name)): Promise<readonly string[]> {
    return this.instances.launch(count, tags);
  }

  /** Registers the node of an instance. */
  async join(instance: string): Promise<string> {
    const name = `node-${++this.#nodes}`;
    const { poolLabel, registeredLabel } = Karpenter.v1;
    const metadata = { name, labels: { [poolLabel]: "default", [registeredLabel]: "true" } };
    const spec = { providerID: `aws:///us-east-1a/${instance}` };
    const status = { conditions: [{ type: "Ready", status: "True" }] };
    await this.core.createNode({ body: { metadata, spec, status } });
    return name;
  }

  /** The hold of each node with a complete mark. */
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

  async untilMarked(nodes: readonly string[], annotation?: string): Promise<string> {
    let marks: Record<string, string> = {};
    const areMarked = async () => {
      marks = await this.marks(annotation);
      return nodes.every((node) => marks[node]);
    };
    await until(`${nodes.join(" and ")} to be held`, areMarked, patience, 250);
    return marks[nodes[0] ?? ""] ?? "";
  }

  async untilReleased(): Promise<void> {
    const areFree = async () => Object.keys(await this.marks()).length === 0;
    await until("every node to be released", areFree, patience, 500);
  }

  /** Invokes a function and waits, as `aws lambda invoke` does. */
  async invoke(part: Part, payload: object): Promise<Answer> {
    const FunctionName = functionName(this.name, part);
    const command = new InvokeCommand({ FunctionName, Payload: JSON.stringify(payload) });
    const answer = await this.#emulator.client(LambdaClient).send(command);
    const text = new TextDecoder().decode(answer.Payload);
    return { failed: answer.FunctionError !== undefined, answer: JSON.parse(text) };
  }

  /** Invokes a function asynchronously, as Scheduler does. */
  async invokeAsync(part: Part, payload: object): Promise<void> {
    const FunctionName = functionName(this.name, part);
    const command = { FunctionName, InvocationType: "Event", Payload: JSON.stringify(payload) } as const;
    await this.#emulator.client(LambdaClient).send(new InvokeCommand(command));
  }

  async control(payload: object): Promise<Readonly<Record<string, unknown>>> {
    return (await this.invoke("control", payload)).answer;
  }

  /** Ends every hold and waits for the next second, because launch times have whole seconds. */
  async releaseAll(): Promise<Answer> {
    const answer = await this.invoke("release", { force: true, reason: "test" });
    await nextSecond();
    return answer;
  }

  async logs(part: Part): Promise<string[]> {
    const logGroupName = `/aws/lambda/${functionName(this.name, part)}`;
    const command = new FilterLogEventsCommand({ logGroupName });
    const { events = [] } = await this.#emulator.client(CloudWatchLogsClient).send(command);
    return events.map(({ message = "" }) => message);
  }

  async untilLogged(part: Part, text: RegExp): Promise<void> {
    const isReported = async () => (await this.logs(part)).some((line) => text.test(line));
    await until(`${part} to log ${text}`, isReported, patience, 500);
  }

  /** The one-shots of a hold, or of all. */
  async schedules(holdId = ""): Promise<string[]> {
    const command = new ListSchedulesCommand({ GroupName: scheduleGroupName(this.name) });
    const { Schedules = [] } = await this.#emulator.client(SchedulerClient).send(command);
    return Schedules.map(({ Name = "" }) => Name).filter((name) => name.startsWith(holdId));
  }

  async role(part: Part): Promise<string> {
    return (await this.#configuration(part)).Role ?? "";
  }

  async environment(part: Part): Promise<Readonly<Record<string, string>>> {
    return (await this.#configuration(part)).Environment?.Variables ?? {};
  }

  #configuration(part: Part) {
    const command = new GetFunctionConfigurationCommand({ FunctionName: functionName(this.name, part) });
    return this.#emulator.client(LambdaClient).send(command);
  }

  /** The kinds of the objects in the cluster that give the holder its rights and limit them. */
  async rights(): Promise<readonly string[]> {
    const api = KubernetesObjectApi.makeApiClient(this.config);
    const found = accessManifest("").map(({ path, object: { kind = "" } }) => {
      const apiVersion = path.split("/").slice(2, 4).join("/");
      return api.read({ apiVersion, kind, metadata: { name: holderName } }).then(
        () => [kind],
        () => [],
      );
    });
    return (await Promise.all(found)).flat();
  }

  /** The groups of the roles with access. */
  async accessGroups(): Promise<readonly string[]> {
    const eks = this.#emulator.client(EKSClient);
    const { accessEntries = [] } = await eks.send(new ListAccessEntriesCommand({ clusterName: this.name }));
    const entries = accessEntries.map((principalArn) =>
      eks.send(new DescribeAccessEntryCommand({ clusterName: this.name, principalArn })),
    );
    return (await Promise.all(entries)).flatMap(({ accessEntry }) => accessEntry?.kubernetesGroups ?? []);
  }

  async send(body: string, queue: Queue = "LaunchesQueue"): Promise<void> {
    const QueueUrl = await this.#queue(queue);
    await this.#emulator.client(SQSClient).send(new SendMessageCommand({ QueueUrl, MessageBody: body }));
  }

  /** Sets the delay before a failed message is delivered again; the deployed one is twelve minutes. */
  async setRetryDelay(seconds: number): Promise<void> {
    const QueueUrl = await this.#queue("LaunchesQueue");
    const Attributes = { VisibilityTimeout: String(seconds) };
    await this.#emulator.client(SQSClient).send(new SetQueueAttributesCommand({ QueueUrl, Attributes }));
  }

  /** The runbook's `aws sqs start-message-move-task`. */
  async redrive(): Promise<void> {
    const sqs = this.#emulator.client(SQSClient);
    const QueueUrl = await this.#queue("LaunchesDeadLetters");
    const about = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ["QueueArn"] });
    const { Attributes } = await sqs.send(about);
    await sqs.send(new StartMessageMoveTaskCommand({ SourceArn: Attributes?.QueueArn }));
  }

  /** Makes the next invocation of this function a cold start. */
  async forceColdStart(part: Part): Promise<void> {
    const lambda = this.#emulator.client(LambdaClient);
    const FunctionName = functionName(this.name, part);
    const { Timeout } = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }));
    await lambda.send(new UpdateFunctionConfigurationCommand({ FunctionName, Timeout }));
    await waitUntilFunctionUpdatedV2({ client: lambda, maxWaitTime: 60 }, { FunctionName });
  }

  /** The number of messages, including delayed ones and those in flight. */
  async messagesIn(queue: Queue): Promise<number> {
    const QueueUrl = await this.#queue(queue);
    const all = "ApproximateNumberOfMessages";
    const AttributeNames = [all, `${all}Delayed`, `${all}NotVisible`] as const;
    const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...AttributeNames] });
    const { Attributes = {} } = await this.#emulator.client(SQSClient).send(command);
    return Object.values(Attributes).reduce((sum, count) => sum + Number(count), 0);
  }

  /** Deletes all messages of all queues, including dead letters. */
  async empty(): Promise<void> {
    for (const queue of queues) {
      const QueueUrl = await this.#queue(queue);
      await this.#emulator.client(SQSClient).send(new PurgeQueueCommand({ QueueUrl }));
    }
  }

  async #queue(queue: Queue): Promise<string> {
    const QueueNamePrefix = `karpenter-node-holder-${this.name}-`;
    const command = new ListQueuesCommand({ QueueNamePrefix });
    const { QueueUrls = [] } = await this.#emulator.client(SQSClient).send(command);
    return QueueUrls.find((url) => url.includes(queue)) ?? "";
  }
}

/** EC2's launch times have whole seconds: a launch in this second still counts as earlier. */
async function nextSecond(): Promise<void> {
  const now = Math.floor(Date.now() / 1000);
  await until("the next second", async () => Math.floor(Date.now() / 1000) > now, patience, 50);
}
