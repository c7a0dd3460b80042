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

/** What an operator's pager is told, in the order in which it is told. */
export class Pager {
  readonly topicArn: string;
  readonly #emulator: Emulator;
  readonly #queueUrl: string;
  readonly #told: string[] = [];

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
    await askSns(emulator, { Action: "CreateTopic", Name: "on-call" });
    await askSns(emulator, { Action: "Subscribe", TopicArn, Protocol: "sqs", Endpoint });
    return new Pager(emulator, TopicArn, QueueUrl);
  }

  /** Everything since it was subscribed: `STATE: "ALARM NAME" in REGION`. */
  async told(): Promise<readonly string[]> {
    const sqs = this.#emulator.client(SQSClient);
    for (;;) {
      const asked = new ReceiveMessageCommand({ QueueUrl: this.#queueUrl, MaxNumberOfMessages: 10 });
      const { Messages = [] } = await sqs.send(asked);
      if (Messages.length === 0) return this.#told;
      for (const { Body = "", ReceiptHandle } of Messages) {
        this.#told.push(JSON.parse(Body).Subject);
        await sqs.send(new DeleteMessageCommand({ QueueUrl: this.#queueUrl, ReceiptHandle }));
      }
    }
  }
}

/** Two calls are no reason to install a client for this service. */
async function askSns(emulator: Emulator, parameters: Readonly<Record<string, string>>): Promise<void> {
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

/** Namespace, name and dimensions: what makes a metric this metric and no other. */
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

  /** The alarms that are on. */
  async on(): Promise<readonly string[]> {
    const states = Object.entries(await this.states());
    return states.flatMap(([name, state]) => (state === "ALARM" ? [name] : [])).sort();
  }

  /** These alarms are on, and no other. */
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

  /** The metrics that alarms look at. */
  async watched(): Promise<readonly string[]> {
    return (await this.#alarms()).map(identityOf);
  }

  /** The metrics that the dashboard draws. */
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

  /** The metrics that were ever told. */
  async told(): Promise<readonly string[]> {
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
