import { after, type Duration, hours, seconds } from "../lambda/core/duration.ts";
import { Karpenter, type KarpenterGeneration } from "../lambda/core/marks/keys.ts";
import type { Instance, Launch, LaunchEvent, Launches } from "../lambda/core/ports.ts";
import type { AlarmClock, Cancel } from "../local/holder/clock.ts";
import type { Timeline } from "../local/holder/timeline.ts";
import type { FakeCluster } from "./fake-kubernetes/fake-cluster.ts";
import { checkMetadata } from "./fake-kubernetes/objects.ts";

/** null: not one of Karpenter's. */
type Pool = Readonly<{ pool?: string | null }>;

export type NodeOptions = Pool &
  Readonly<{
    labels?: Readonly<Record<string, string>>;
    annotations?: Readonly<Record<string, string>>;
    age?: Duration;
  }>;

export type LaunchOptions = Pool &
  Readonly<{
    name?: string;
    /** How long until the node joins; null: never. */
    joinsAfter?: Duration | null;
    /** How late the event is; null: it is lost. */
    eventAfter?: Duration | null;
    /** When a duplicate of the event is sent. */
    duplicatesAfter?: readonly Duration[];
    /** How late EC2 lists the instance. */
    knownAfter?: Duration;
    node?: NodeOptions;
  }>;

export type FakeEc2Options = Readonly<{
  clock: AlarmClock;
  cluster: FakeCluster;
  karpenter: KarpenterGeneration;
  timeline?: Timeline;
  /** Receives EventBridge's event of a launch. */
  send: (event: unknown, delay: Duration) => void;
}>;

/** The labels that Karpenter puts on its nodes when they register. */
export function karpentersLabels(karpenter: KarpenterGeneration, nodePool: string): Record<string, string> {
  const { poolLabel, registeredLabel } = Karpenter[karpenter];
  return { [poolLabel]: nodePool, [registeredLabel]: "true" };
}

/** The boot time of an instance until its node joins. */
const boot: Duration = seconds(40);

/** EC2 and Karpenter in memory: an instance is launched, its event is sent, and its node joins later. */
export class FakeEc2 implements Launches {
  readonly instances = new Map<string, Instance>();
  /** Launched, but not listed yet. */
  readonly unlisted = new Set<string>();
  readonly #options: FakeEc2Options;
  readonly #booting: Cancel[] = [];
  readonly #instanceOf = new Map<string, string>();
  #launched = 0;

  constructor(options: FakeEc2Options) {
    this.#options = options;
  }

  /** Launches an instance as Karpenter does for a pending pod. */
  launch(options: LaunchOptions = {}): LaunchEvent & Readonly<{ node: string }> {
    const { clock, timeline, send } = this.#options;
    const {
      pool = "default",
      joinsAfter = boot,
      eventAfter = 0,
      duplicatesAfter = [],
      knownAfter = 0,
    } = options;
    this.#launched += 1;
    const launchedAt = clock.now();
    const instance = `i-${this.#launched.toString(16).padStart(8, "0")}`;
    const { name: node = `node-${this.#launched}` } = options;
    // Now, and not in a timer when it joins.
    checkMetadata({ name: node });
    this.add(instance, launchedAt, pool ?? undefined);
    timeline?.record({ kind: "launch", instance });
    for (const delay of [eventAfter, ...duplicatesAfter])
      if (delay !== null) send(launchEvent(instance, launchedAt), delay);
    if (knownAfter > 0) {
      this.unlisted.add(instance);
      clock.at(after(launchedAt, knownAfter), async () => void this.unlisted.delete(instance));
    }
    if (joinsAfter !== null) {
      const join = async () => this.#join(node, instance, { pool, ...options.node });
      this.#booting.push(clock.at(after(launchedAt, joinsAfter), join));
    }
    return { instance, launchedAt, node };
  }

  /** Adds an old node. */
  addNode(name: string, { age = hours(24), pool = "default", ...options }: NodeOptions = {}): void {
    const joinedAt = after(this.#options.clock.now(), -age);
    this.add(`i-${name}`, joinedAt, pool ?? undefined);
    this.#join(name, `i-${name}`, { pool, ...options }, joinedAt);
  }

  /** Adds an instance without a node; without a NodePool it is not Karpenter's. */
  add(id: string, launchedAt: Date, nodePool?: string): void {
    this.instances.set(id, { id, launchedAt, ...(nodePool !== undefined && { nodePool }) });
  }

  /** Removes a node and its instance, as Karpenter does when it consolidates. */
  terminate(node: string): void {
    this.instances.delete(this.#instanceOf.get(node) ?? "");
    this.#options.cluster.removeNode(node);
  }

  /** Instances that still boot never join. */
  close(): void {
    for (const cancel of this.#booting.splice(0)) cancel();
  }

  async find(instances: readonly string[]): Promise<ReadonlyMap<string, Instance>> {
    const known = instances.flatMap((id) => this.instances.get(id) ?? []);
    return new Map(known.filter(({ id }) => !this.unlisted.has(id)).map((one) => [one.id, one]));
  }

  async since(moment: Date): Promise<readonly Launch[]> {
    return [...this.instances.values()].flatMap(({ id, launchedAt, nodePool }) =>
      nodePool === undefined || launchedAt < moment || this.unlisted.has(id)
        ? []
        : [{ instance: id, launchedAt, nodePool }],
    );
  }

  #join(
    name: string,
    instance: string,
    { pool, labels, annotations = {} }: NodeOptions,
    joinedAt?: Date,
  ): void {
    const { cluster, clock, karpenter } = this.#options;
    if (!this.instances.has(instance)) return;
    this.#instanceOf.set(name, instance);
    cluster.addNode({
      name,
      labels: { ...(pool && karpentersLabels(karpenter, pool)), ...labels },
      annotations,
      providerId: `aws:///eu-central-1a/${instance}`,
      joinedAt: joinedAt ?? clock.now(),
    });
  }
}

/** EventBridge's event of an instance that is pending. */
export const launchEvent = (instance: string, launchedAt: Date) => ({
  version: "0",
  id: `7bf73129-${instance}`,
  "detail-type": "EC2 Instance State-change Notification",
  source: "aws.ec2",
  account: "123456789012",
  time: launchedAt.toISOString(),
  region: "eu-central-1",
  resources: [`arn:aws:ec2:eu-central-1:123456789012:instance/${instance}`],
  detail: { "instance-id": instance, state: "pending" },
});
