import { randomBytes } from "node:crypto";
import { after, type Duration, earlier, hours, seconds } from "../lambda/core/duration.ts";
import { Karpenter, type KarpenterGeneration } from "../lambda/core/marks/keys.ts";
import type { Instance, Launch, Launches } from "../lambda/core/ports.ts";
import type { AlarmClock, Cancel } from "../local/holder/alarm-clock.ts";
import type { Timeline } from "../local/holder/timeline.ts";
import type { FakeKubernetesServer } from "./fake-kubernetes/fake-kubernetes-server.ts";

type Running = Launch & Readonly<{ node: string }>;

export type CloudOptions = Readonly<{
  clock: AlarmClock;
  cluster: FakeKubernetesServer;
  karpenter: KarpenterGeneration;
  timeline: Timeline;
  /** Takes the event that a launch puts on the bus. */
  onEvent: (envelope: unknown) => void;
}>;

/** What Karpenter puts on a node of its own when the node has registered. */
export function karpentersLabels(karpenter: KarpenterGeneration, nodePool: string): Record<string, string> {
  const { poolLabel, registeredLabel } = Karpenter[karpenter];
  return { [poolLabel]: nodePool, [registeredLabel]: "true" };
}

/** How long an instance boots before its node joins. */
const boot: Duration = seconds(40);

/** A cloud in memory: it tells of each instance at once, and its node joins the cluster when it has booted. */
export class CloudStandIn implements Launches {
  readonly #options: CloudOptions;
  readonly #booting: Cancel[] = [];
  readonly #running = new Map<string, Running>();

  constructor(options: CloudOptions) {
    this.#options = options;
  }

  /** Launches an instance for Karpenter, as a pod that found no room would make it do. */
  launch(node: string, nodePool = "default"): void {
    const { clock, timeline, onEvent } = this.#options;
    const instance = this.#run(node, nodePool, clock.now());
    timeline.record({ kind: "launch", instance });
    onEvent(pendingEvent(instance, clock.now()));
    this.#booting.push(clock.at(after(clock.now(), boot), async () => this.#join(instance)));
  }

  /** What still boots is lost; nobody waits for it. */
  close(): void {
    for (const cancel of this.#booting.splice(0)) cancel();
  }

  /** A node that has been there since long before. */
  addLongAgo(node: string, nodePool = "default", age: Duration = hours(2)): void {
    this.#join(this.#run(node, nodePool, after(this.#options.clock.now(), -age)));
  }

  /** Takes a node away as Karpenter does when it tidies up. */
  terminate(node: string): void {
    for (const one of this.#running.values()) if (one.node === node) this.#running.delete(one.instance);
    this.#options.cluster.removeNode(node);
  }

  async find(instances: readonly string[]): Promise<ReadonlyMap<string, Instance>> {
    const known = instances.flatMap((id) => this.#running.get(id) ?? []);
    return new Map(known.map(({ instance: id, launchedAt, nodePool }) => [id, { id, launchedAt, nodePool }]));
  }

  async since(moment: Date): Promise<readonly Launch[]> {
    return [...this.#running.values()].filter(({ launchedAt }) => launchedAt >= moment);
  }

  #run(node: string, nodePool: string, launchedAt: Date): string {
    const instance = `i-0${randomBytes(8).toString("hex")}`;
    this.#running.set(instance, { instance, node, nodePool, launchedAt });
    return instance;
  }

  #join(instance: string): void {
    const { cluster, clock, karpenter } = this.#options;
    const launched = this.#running.get(instance);
    if (!launched) return;
    const { node, nodePool, launchedAt } = launched;
    const joinedAt = earlier(after(launchedAt, boot), clock.now());
    const providerId = `aws:///eu-central-1a/${instance}`;
    cluster.addNode({ name: node, labels: karpentersLabels(karpenter, nodePool), providerId, joinedAt });
  }
}

const pendingEvent = (instance: string, time: Date) => ({
  version: "0",
  id: `event-${instance}`,
  "detail-type": "EC2 Instance State-change Notification",
  source: "aws.ec2",
  account: "123456789012",
  time: time.toISOString(),
  region: "eu-central-1",
  resources: [`arn:aws:ec2:eu-central-1:123456789012:instance/${instance}`],
  detail: { "instance-id": instance, state: "pending" },
});
