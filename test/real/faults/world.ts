import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { after, type Duration, minutes, seconds } from "../../../lambda/core/duration.ts";
import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import { type MetricName, metricNamespace } from "../../../lambda/core/metrics.ts";
import type { CallContext, Ports } from "../../../lambda/core/ports.ts";
import { onNodeLaunched } from "../../../lambda/handlers/hold.ts";
import { onHoldExpired } from "../../../lambda/handlers/release.ts";
import { onSweepDue } from "../../../lambda/handlers/sweep.ts";
import { invocation } from "../../../lambda/invocation.ts";
import { type KubernetesCaller, KubernetesClient } from "../../../lambda/kubernetes/client.ts";
import { KubernetesNodeClaims } from "../../../lambda/kubernetes/nodeclaims.ts";
import { KubernetesNodes } from "../../../lambda/kubernetes/nodes.ts";
import { KubernetesPods } from "../../../lambda/kubernetes/pods.ts";
import { functionName } from "../../../lambda/names.ts";
import { holdIds } from "../../../lambda/system-clock.ts";
import type { Cancel } from "../../../local/holder/clock.ts";
import { InProcessQueue } from "../../../local/holder/queue.ts";
import { Timers } from "../../../local/holder/timers.ts";
import { CollectedLog } from "../../../simulator/collected-log.ts";
import { launchEvent } from "../../../simulator/fake-ec2.ts";
import { retriesAfter, timeouts } from "../../../simulator/invocation.ts";
import { MemoryTable } from "../../../simulator/memory-table.ts";
import { VirtualClock } from "../../../simulator/virtual-clock.ts";
import { storeOf } from "../../contracts/dynamodb-store.ts";
import type { Datum } from "../../repository/alarm-signals.ts";
import { someRules } from "../../support/builders.ts";
import { type FaultyCluster, none } from "./cluster.ts";

/** Pauses between attempts are this much shorter than the world's clock shows. */
const speedUp = 40;
const nodePools = { only: [], except: [] };
const instance = "i-0123456789abcdef0";

/** The deployed handlers on a real API server, with a record, a queue, one-shots and a clock of their own. */
export class FaultsWorld {
  readonly cluster: FaultyCluster;
  readonly log = new CollectedLog();
  /** All metrics that the functions recorded. */
  readonly datapoints: Datum[] = [];
  /** The alarms that the case must set off; without any it must set off none. */
  readonly expectedAlarms: string[] = [];
  /** Called before each pause between two attempts. */
  whilePausing: () => Promise<void> = async () => {};
  readonly #clock = new VirtualClock(new Date());
  readonly #client: KubernetesClient;
  readonly #store = storeOf(new MemoryTable(), this.#clock);
  readonly #queue = new InProcessQueue({
    clock: this.#clock,
    log: this.log,
    visibility: minutes(12),
    deliver: (event) => this.#invoke("hold", onNodeLaunched(this.#ports), event),
  });
  readonly #timers = new Timers(this.#clock, (expired) => this.#release(expired));
  readonly #ports: Ports;
  #retries: Cancel[] = [];
  #patches = 0;
  #beforePatch: { n: number; action: () => Promise<void> } | undefined;

  constructor(cluster: FaultyCluster) {
    this.cluster = cluster;
    const clock = this.#clock;
    const metrics = {
      add: (name: MetricName, value: number) =>
        this.#record(metricNamespace, name, { Cluster: "prod" }, value),
    };
    const pause = (duration: Duration) => this.#pause(duration);
    this.#client = new KubernetesClient({ login: cluster.login(), clock, metrics, sleep: pause });
    const api: KubernetesCaller = {
      call: async (call, context) => {
        if (call.method === "PATCH" && ++this.#patches === this.#beforePatch?.n)
          await this.#beforePatch.action();
        return this.#client.call(call, context);
      },
    };
    const { annotation } = Karpenter.v1;
    this.#ports = {
      rules: someRules({ hold: minutes(20) }),
      holds: this.#store.holds,
      journal: this.#store.journal,
      nodes: new KubernetesNodes({ api, karpenter: "v1", annotation, nodePools, metrics }),
      nodeClaims: new KubernetesNodeClaims({ api, karpenter: "v0.31", nodePools }),
      pods: new KubernetesPods({ api }),
      launches: {
        find: async () =>
          new Map([[instance, { id: instance, launchedAt: clock.now(), nodePool: "default" }]]),
        since: async () => [],
      },
      schedules: this.#timers,
      followUps: this.#queue,
      clock,
      ids: holdIds,
      metrics,
    };
  }

  /** Launches an instance as Karpenter does, whose event is handled. */
  async launch(): Promise<void> {
    this.#queue.send(launchEvent(instance, this.#clock.now()));
    await this.advance(seconds(1));
  }

  /** Runs an action once, before the nth patch from now: in the middle of marking or releasing. */
  beforePatch(n: number, action: () => Promise<void>): void {
    this.#patches = 0;
    this.#beforePatch = { n, action };
  }

  /** Runs one sweep, and returns whether it succeeded; a failed sweep is not retried. */
  sweep(): Promise<boolean> {
    return this.#invoke("sweep", onSweepDue(this.#ports), {}).then(
      () => true,
      () => false,
    );
  }

  /** Moves the clock: messages are delivered, one-shots fire, failed invocations are retried; no sweep runs. */
  async advance(duration: Duration): Promise<void> {
    await this.#clock.runUntil(after(this.#clock.now(), duration));
  }

  /** Drops all messages, one-shots and retries, so that only a sweep can repair. */
  loseEvents(): void {
    this.#queue.messages = [];
    this.#timers.loseAll();
    for (const cancel of this.#retries.splice(0)) cancel();
  }

  /** Nothing is held any more, and it was one hold. */
  async expectOver(): Promise<void> {
    expect(await this.cluster.marks()).toEqual(none);
    expect((await this.#store.holds.find("cluster"))?.hold).toBeUndefined();
    expect(await this.#store.journal.history(10)).toHaveLength(1);
  }

  expectAlarms(...headings: readonly string[]): void {
    this.expectedAlarms.push(...headings);
  }

  /** Ends every hold, for the next case. */
  async close(): Promise<void> {
    this.whilePausing = async () => {};
    this.#beforePatch = undefined;
    await this.cluster.repair();
    await this.#invoke("release", onHoldExpired(this.#ports), { force: true, reason: "the case has ended" });
    await this.#client.close();
  }

  async #release(payload: unknown, attempt = 0): Promise<void> {
    const wait = retriesAfter[attempt];
    try {
      await this.#invoke("release", onHoldExpired(this.#ports), payload);
    } catch {
      const retry = () => this.#release(payload, attempt + 1);
      if (wait !== undefined) this.#retries.push(this.#clock.at(after(this.#clock.now(), wait), retry));
      else
        this.#record("AWS/SQS", "ApproximateNumberOfMessagesVisible", { QueueName: "FunctionsFailures" }, 1);
    }
  }

  async #invoke<T>(
    part: "hold" | "release" | "sweep",
    handle: (event: unknown, context: CallContext) => Promise<T>,
    event: unknown,
  ): Promise<T> {
    const clock = this.#clock;
    const end = after(clock.now(), timeouts[part]);
    const left = () => end.getTime() - clock.now().getTime();
    const observer = { log: this.log, begin: () => {}, end: () => {} };
    const context = { awsRequestId: part, getRemainingTimeInMillis: left };
    try {
      return await invocation(observer, clock, handle)(event, context);
    } catch (error) {
      this.#record("AWS/Lambda", "Errors", { FunctionName: functionName("prod", part) }, 1);
      throw error;
    } finally {
      expect(left(), `Lambda would have ended ${part} before it was done`).toBeGreaterThan(0);
    }
  }

  #record(namespace: string, name: string, dimensions: Datum["dimensions"], value: number): void {
    this.datapoints.push({ namespace, name, dimensions, value, at: this.#clock.now() });
  }

  async #pause(duration: Duration): Promise<void> {
    const end = after(this.#clock.now(), duration);
    await this.whilePausing();
    await sleep(duration / speedUp);
    if (this.#clock.now() < end) this.#clock.set(end);
  }
}
