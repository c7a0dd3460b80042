import { setTimeout as sleep } from "node:timers/promises";
import { EC2Client } from "@aws-sdk/client-ec2";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { expect } from "vitest";
import { clientDefaults } from "../../../lambda/aws/clients.ts";
import { Ec2Launches } from "../../../lambda/aws/ec2-launches.ts";
import { SchedulerReleases } from "../../../lambda/aws/scheduler-releases.ts";
import { after, type Duration, minutes, seconds } from "../../../lambda/core/duration.ts";
import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import { type MetricName, metricNamespace } from "../../../lambda/core/metrics.ts";
import type { CallContext, Ports } from "../../../lambda/core/ports.ts";
import { onNodeLaunched } from "../../../lambda/handlers/hold.ts";
import { onHoldExpired } from "../../../lambda/handlers/release.ts";
import { onSweepDue } from "../../../lambda/handlers/sweep.ts";
import { invocation } from "../../../lambda/invocation.ts";
import type { KubernetesCaller } from "../../../lambda/kubernetes/client.ts";
import { KubernetesNodeClaims } from "../../../lambda/kubernetes/nodeclaims.ts";
import { KubernetesNodes } from "../../../lambda/kubernetes/nodes.ts";
import { KubernetesPods } from "../../../lambda/kubernetes/pods.ts";
import { functionName } from "../../../lambda/names.ts";
import { holdIds } from "../../../lambda/system-clock.ts";
import { type Message, MessageQueue } from "../../../local/holder/queue.ts";
import { CollectedLog } from "../../../simulator/collected-log.ts";
import { launchEvent } from "../../../simulator/fake-ec2.ts";
import { dynamodbStore } from "../../contracts/dynamodb-store.ts";
import type { OpenHolds } from "../../contracts/holds.ts";
import type { Datum } from "../../repository/alarm-signals.ts";
import { someRules } from "../../support/builders.ts";
import { region } from "../emulator/emulator.ts";
import { OneShots } from "../worlds/one-shots.ts";
import { ClusterRoute } from "./cluster.ts";
import { credentials, type FaultsEngines, none } from "./engines.ts";

type Outcome = "done" | "failed";
type Due = Readonly<{ at: Date; happen: () => Promise<unknown> }>;

const timeouts = { hold: minutes(2), release: minutes(5), sweep: minutes(5) } as const;
/** Lambda's delays before it retries an asynchronous invocation. */
const retriesAfter = [minutes(1), minutes(2)];
/** Pauses between attempts are this much shorter than the world's clock shows. */
const speedUp = 40;
/** The deployed settings, with a shorter timeout. */
const client = {
  ...clientDefaults,
  requestHandler: { ...clientDefaults.requestHandler, requestTimeout: seconds(2) },
  region,
  credentials,
};

/** The functions' handlers and adapters on real engines, with their own record, queue and clock. */
export class FaultsWorld {
  readonly engines: FaultsEngines;
  readonly cluster: ClusterRoute;
  readonly oneShots: OneShots;
  readonly log = new CollectedLog();
  readonly queue: MessageQueue;
  /** All metrics that the functions recorded. */
  readonly datapoints: Datum[] = [];
  /** The alarms that the case must set off; without any it must set off none. */
  readonly expectedAlarms: string[] = [];
  /** Called before each pause between two attempts. */
  whilePausing: () => Promise<void> = async () => {};
  readonly clock = { now: () => new Date(Date.now() + this.#ahead) };
  readonly #store: OpenHolds;
  readonly #ports: Ports;
  readonly #actions: (() => Promise<void>)[] = [];
  #retries: Due[] = [];
  #ahead: Duration = 0;

  static async open(engines: FaultsEngines): Promise<FaultsWorld> {
    const clock = { now: () => world.clock.now() };
    const store = await dynamodbStore({ ...client, endpoint: engines.dynamodb.url }, clock);
    const world = new FaultsWorld(engines, store, await OneShots.open(engines.emulator));
    return world;
  }

  private constructor(engines: FaultsEngines, store: OpenHolds, oneShots: OneShots) {
    this.engines = engines;
    this.oneShots = oneShots;
    this.#store = store;
    this.queue = new MessageQueue({ clock: this.clock, visibility: minutes(12) });
    const { clock } = this;
    const metrics = {
      add: (name: MetricName, value: number) =>
        this.#record(metricNamespace, name, { Cluster: "prod" }, value),
    };
    this.cluster = new ClusterRoute(engines, { clock, metrics, sleep: (duration) => this.#pause(duration) });
    this.#ports = {
      rules: someRules({ hold: minutes(20) }),
      holds: store.holds,
      journal: store.journal,
      nodes: nodesBehind(this.cluster, { clock, metrics }),
      nodeClaims: new KubernetesNodeClaims({
        api: this.cluster,
        karpenter: "v0.31",
        nodePools: { only: [], except: [] },
      }),
      pods: new KubernetesPods({ api: this.cluster }),
      launches: new Ec2Launches(new EC2Client({ ...client, endpoint: engines.ec2.url }), "prod"),
      schedules: new SchedulerReleases({
        client: new SchedulerClient({ ...client, endpoint: engines.scheduler.url }),
        clock,
        group: oneShots.group,
        roleArn: "arn:aws:iam::000000000000:role/one-shots",
        releaseFunctionArn: "arn:aws:lambda:us-east-1:000000000000:function:release",
      }),
      followUps: this.queue,
      clock,
      ids: holdIds,
      metrics,
    };
  }

  /** Launches an instance as Karpenter does, and puts its event into the queue. */
  async launch(): Promise<string> {
    const instance = await this.engines.launch();
    // Of two launches of the same millisecond, the second would count as a duplicate.
    this.#ahead += 1;
    this.queue.send(launchEvent(instance, this.clock.now()));
    return instance;
  }

  /** Passes messages to the hold function as one batch, by default all that are due. */
  async deliver(batch: readonly Message[] = this.queue.due()): Promise<Outcome> {
    const event = this.queue.receive(batch);
    const answer = await this.#invoke("hold", onNodeLaunched(this.#ports), event);
    const { batchItemFailures = undefined } = answer ?? {};
    const failed = batchItemFailures?.map((one) => one.itemIdentifier) ?? batch.map(({ id }) => id);
    this.queue.settle(batch, failed);
    this.#countMessages("LaunchesDeadLetters", this.queue.deadLetters.length);
    return answer ? "done" : "failed";
  }

  /** Runs one sweep; a failed sweep is not retried. */
  async sweep(): Promise<Outcome> {
    const answer = await this.#invoke("sweep", async (event, context) => {
      await onSweepDue(this.#ports)(event, context);
      return "done" as const;
    });
    return answer ?? "failed";
  }

  /** Moves the clock: messages are delivered, one-shots fire, failed invocations are retried; no sweep runs. */
  async advance(duration: Duration): Promise<void> {
    const end = after(this.clock.now(), duration);
    for (;;) {
      const due = (await this.#due()).filter(({ at }) => at <= end);
      const [next] = due.toSorted((a, b) => a.at.getTime() - b.at.getTime());
      if (!next) break;
      this.#waitUntil(next.at);
      await next.happen();
    }
    this.#waitUntil(end);
  }

  /** Drops all messages, one-shots and retries, so that only a sweep can repair. */
  async loseEvents(): Promise<void> {
    this.queue.messages = [];
    this.#retries = [];
    for (const { Name } of await this.oneShots.all()) await this.oneShots.delete(Name);
  }

  hold = async () => (await this.#store.holds.find("cluster"))?.hold;

  history = () => this.#store.journal.history(10);

  /** Nothing is held any more, and it was one hold. */
  async expectOver(): Promise<void> {
    expect(await this.engines.marks()).toEqual(none);
    expect(await this.hold()).toBeUndefined();
    expect(await this.history()).toHaveLength(1);
  }

  expectAlarms(...headings: readonly string[]): void {
    this.expectedAlarms.push(...headings);
  }

  /** Runs when this world is closed. */
  onClose(action: () => Promise<void>): void {
    this.#actions.push(action);
  }

  /** Ends every hold, for the next case. */
  async close(): Promise<void> {
    this.whilePausing = async () => {};
    await this.engines.reset();
    for (const action of this.#actions) await action();
    this.cluster.reset();
    if (!(await this.engines.isFree())) {
      await this.#invoke("release", onHoldExpired(this.#ports), {
        force: true,
        reason: "the case has ended",
      });
    }
    await this.cluster.close();
    await this.#store.close();
  }

  async #due(): Promise<readonly Due[]> {
    const messages = this.queue.messages.map(({ visibleAt }) => ({
      at: visibleAt,
      happen: () => this.deliver(),
    }));
    const oneShots = (await this.oneShots.all()).map(({ Name, at, payload }) => ({
      at,
      happen: async () => {
        await this.oneShots.delete(Name);
        await this.#release(payload, 0);
      },
    }));
    return [...messages, ...oneShots, ...this.#retries];
  }

  async #release(payload: unknown, attempt: number): Promise<void> {
    if (await this.#invoke("release", onHoldExpired(this.#ports), payload)) return;
    const wait = retriesAfter[attempt];
    if (wait === undefined) return this.#countMessages("FunctionsFailures", 1);
    const retry: Due = {
      at: after(this.clock.now(), wait),
      happen: async () => {
        this.#retries = this.#retries.filter((one) => one !== retry);
        await this.#release(payload, attempt + 1);
      },
    };
    this.#retries.push(retry);
  }

  /** The function's answer; undefined when it failed. */
  async #invoke<T>(
    part: keyof typeof timeouts,
    handle: (event: unknown, context: CallContext) => Promise<T>,
    event: unknown = {},
  ): Promise<T | undefined> {
    const end = after(this.clock.now(), timeouts[part]);
    const observer = { log: this.log, begin: () => {}, end: () => {} };
    const left = () => end.getTime() - this.clock.now().getTime();
    const work = invocation(observer, this.clock, handle);
    const answer = await work(event, { awsRequestId: part, getRemainingTimeInMillis: left }).catch(
      () => undefined,
    );
    if (left() < 0) throw new Error(`Lambda would have ended ${part} before it was done`);
    if (!answer) this.#record("AWS/Lambda", "Errors", { FunctionName: functionName("prod", part) }, 1);
    return answer;
  }

  #countMessages(queue: "LaunchesDeadLetters" | "FunctionsFailures", count: number): void {
    this.#record("AWS/SQS", "ApproximateNumberOfMessagesVisible", { QueueName: queue }, count);
  }

  #record(namespace: string, name: string, dimensions: Datum["dimensions"], value: number): void {
    this.datapoints.push({ namespace, name, dimensions, value, at: this.clock.now() });
  }

  async #pause(duration: Duration): Promise<void> {
    const end = after(this.clock.now(), duration);
    await this.whilePausing();
    await sleep(duration / speedUp);
    this.#waitUntil(end);
  }

  #waitUntil(moment: Date): void {
    this.#ahead = Math.max(this.#ahead, moment.getTime() - Date.now());
  }
}

const nodesBehind = (api: KubernetesCaller, ports: Pick<Ports, "clock" | "metrics">): KubernetesNodes =>
  new KubernetesNodes({
    ...ports,
    api,
    karpenter: "v1",
    annotation: Karpenter.v1.annotation,
    nodePools: { only: [], except: [] },
  });
