import {
  CloudWatchClient,
  DescribeAlarmsCommand,
  GetDashboardCommand,
  ListMetricsCommand,
  type Metric,
  type MetricAlarm,
} from "@aws-sdk/client-cloudwatch";
import {
  CreateQueueCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SQSClient,
} from "@aws-sdk/client-sqs";
import { alarmName, dashboardName } from "../../../lambda/names.ts";
import { account, type Emulator, region } from "../emulator/emulator.ts";
import { until } from "../engines/processes.ts";

/** Receives the alarms' notifications in their order, as an operator's pager does. */
export class Pager {
  readonly topicArn: string;
  readonly #emulator: Emulator;
  readonly #queueUrl: string;
  readonly #received: string[] = [];

  private constructor(emulator: Emulator, topicArn: string, queueUrl: string) {
    this.#emulator = emulator;
    this.topicArn = topicArn;
    this.#queueUrl = queueUrl;
  }

  static async subscribe(emulator: Emulator): Promise<Pager> {
    const sqs = emulator.client(SQSClient);
    const TopicArn = `arn:aws:sns:${region}:${account}:on-call`;
    const Endpoint = `arn:aws:sqs:${region}:${account}:pager`;
    const Principal = { Service: "sns.amazonaws.com" };
    const Policy = JSON.stringify({
      Statement: [{ Effect: "Allow", Principal, Action: "sqs:SendMessage", Resource: Endpoint }],
    });
    const created = new CreateQueueCommand({ QueueName: "pager", Attributes: { Policy } });
    const { QueueUrl = "" } = await sqs.send(created);
    await callSns(emulator, { Action: "CreateTopic", Name: "on-call" });
    await callSns(emulator, { Action: "Subscribe", TopicArn, Protocol: "sqs", Endpoint });
    return new Pager(emulator, TopicArn, QueueUrl);
  }

  /** All notifications since the subscription: `STATE: "ALARM NAME" in REGION`. */
  async notifications(): Promise<readonly string[]> {
    const sqs = this.#emulator.client(SQSClient);
    for (;;) {
      const command = new ReceiveMessageCommand({ QueueUrl: this.#queueUrl, MaxNumberOfMessages: 10 });
      const { Messages = [] } = await sqs.send(command);
      if (Messages.length === 0) return this.#received;
      for (const { Body = "", ReceiptHandle } of Messages) {
        this.#received.push(JSON.parse(Body).Subject);
        await sqs.send(new DeleteMessageCommand({ QueueUrl: this.#queueUrl, ReceiptHandle }));
      }
    }
  }
}

/** A plain request: two calls do not justify a client for this service. */
async function callSns(emulator: Emulator, parameters: Readonly<Record<string, string>>): Promise<void> {
  const Credential = `test/20260101/${region}/sns/aws4_request`;
  const answer = await fetch(emulator.endpoint, {
    method: "POST",
    headers: {
      authorization: `AWS4-HMAC-SHA256 Credential=${Credential}, SignedHeaders=host, Signature=none`,
    },
    body: new URLSearchParams(parameters),
  });
  if (!answer.ok) throw new Error(`${parameters.Action} failed: ${await answer.text()}`);
}

/** Namespace, name and dimensions identify a metric. */
const identityOf = ({ Namespace, MetricName, Dimensions = [] }: Metric | MetricAlarm): string => {
  const dimensions = Dimensions.map(({ Name, Value }) => `${Name}=${Value}`).sort();
  return [Namespace, MetricName, ...dimensions].join(" ");
};

/** Alarms, dashboard and metrics of one cluster's holder. */
export class Watch {
  readonly #cluster: string;
  readonly #cloudWatch: CloudWatchClient;

  constructor(emulator: Emulator, cluster: string) {
    this.#cluster = cluster;
    this.#cloudWatch = emulator.client(CloudWatchClient);
  }

  async states(): Promise<Readonly<Record<string, string>>> {
    const alarms = await this.#alarms();
    return Object.fromEntries(
      alarms.map(({ AlarmName = "", StateValue = "" }) => [this.#short(AlarmName), StateValue]),
    );
  }

  /** The alarms in state ALARM. */
  async on(): Promise<readonly string[]> {
    const states = Object.entries(await this.states());
    return states.flatMap(([name, state]) => (state === "ALARM" ? [name] : [])).sort();
  }

  /** Waits until exactly these alarms are on. */
  async untilOn(...names: readonly string[]): Promise<void> {
    let on: readonly string[] = [];
    const wanted = names.toSorted().join();
    try {
      const areOn = async () => {
        on = await this.on();
        return on.join() === wanted;
      };
      await until("alarms", areOn, 45_000, 250);
    } catch (error) {
      throw new Error(`not [${wanted}] but [${on}] are on`, { cause: error });
    }
  }

  /** The metrics that alarms evaluate. */
  async watched(): Promise<readonly string[]> {
    return (await this.#alarms()).map(identityOf);
  }

  /** The metrics that the dashboard shows. */
  async drawn(): Promise<readonly string[]> {
    const command = new GetDashboardCommand({ DashboardName: dashboardName(this.#cluster) });
    const { DashboardBody = "" } = await this.#cloudWatch.send(command);
    const { widgets }: { widgets: { properties: { metrics?: unknown[][] } }[] } = JSON.parse(DashboardBody);
    const rows = widgets.flatMap(({ properties }) => properties.metrics ?? []);
    return rows.map((row) => {
      const [Namespace, MetricName, ...pairs] = row.filter((cell) => typeof cell === "string");
      const Dimensions = pairs.flatMap((Name, i) => (i % 2 ? [] : [{ Name, Value: pairs[i + 1] }]));
      return identityOf({ Namespace, MetricName, Dimensions });
    });
  }

  /** All metrics that were recorded. */
  async recorded(): Promise<readonly string[]> {
    const { Metrics = [] } = await this.#cloudWatch.send(new ListMetricsCommand({}));
    return Metrics.map(identityOf);
  }

  async #alarms(): Promise<readonly MetricAlarm[]> {
    const command = new DescribeAlarmsCommand({ AlarmNamePrefix: alarmName(this.#cluster, "") });
    return (await this.#cloudWatch.send(command)).MetricAlarms ?? [];
  }

  #short(name: string): string {
    return name.slice(alarmName(this.#cluster, "").length);
  }
}
