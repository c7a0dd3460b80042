import { after, type Duration, hours, minutes, seconds } from "../lambda/core/duration.ts";
import { Karpenter, type KarpenterGeneration } from "../lambda/core/marks/keys.ts";
import type { Instance, Launch, LaunchEvent, Launches } from "../lambda/core/ports.ts";
import type { AlarmClock, Cancel } from "../local/holder/clock.ts";
import type { Timeline } from "../local/holder/timeline.ts";
import type { FakeCluster } from "./fake-kubernetes/fake-cluster.ts";
import { checkMetadata } from "./fake-kubernetes/objects.ts";
import type { FakeNodeClaims } from "./fake-node-claims.ts";

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
    /** How late its NodeClaim names the instance. */
    claimedAfter?: Duration;
    node?: NodeOptions;
  }>;

export type FakeEc2Options = Readonly<{
  clock: AlarmClock;
  cluster: FakeCluster;
  karpenter: KarpenterGeneration;
  timeline?: Timeline;
  /** Karpenter's NodeClaims of these instances; without it the cluster has none. */
  nodeClaims?: FakeNodeClaims;
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
/** Karpenter creates a NodeClaim this long before its instance is launched. */
const claimedBefore: Duration = seconds(2);

/** Karpenter removes an instance whose node has not joined by then. */
const givenUpAfter: Duration = minutes(15);

/** EC2 and the API server keep whole seconds. */
export const wholeSecond = (moment: Date): Date => new Date(Math.floor(moment.getTime() / 1_000) * 1_000);

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
      claimedAfter = 0,
    } = options;
    this.#launched += 1;
    const now = clock.now();
    const launchedAt = wholeSecond(now);
    const instance = `i-${this.#launched.toString(16).padStart(8, "0")}`;
    const { name: node = `node-${this.#launched}` } = options;
    // Now, and not in a timer when it joins.
    checkMetadata({ name: node });
    this.#addInstance(instance, launchedAt, pool ?? undefined);
    this.#claim(instance, after(now, -claimedBefore), { pool, claimedAfter });
    timeline?.record({ kind: "launch", instance });
    for (const delay of [eventAfter, ...duplicatesAfter])
      if (delay !== null) send(launchEvent(instance, launchedAt), delay);
    if (knownAfter > 0) {
      this.unlisted.add(instance);
      clock.at(after(now, knownAfter), async () => void this.unlisted.delete(instance));
    }
    const boots = async () => {
      if (joinsAfter === null) this.#forget(instance);
      else this.#join(node, instance, { pool, ...options.node });
    };
    this.#booting.push(clock.at(after(now, joinsAfter ?? givenUpAfter), boots));
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
    this.#addInstance(id, launchedAt, nodePool);
    this.#claim(id, after(launchedAt, -claimedBefore), { pool: nodePool ?? null });
  }

  /** Removes a node and its instance, as Karpenter does when it consolidates; a drain takes time. */
  terminate(node: string, drainsFor: Duration = 0): void {
    const { cluster, clock, nodeClaims } = this.#options;
    const instance = this.#instanceOf.get(node) ?? "";
    nodeClaims?.change(instance, { isDeleted: true });
    const remove = () => {
      this.#forget(instance);
      if (this.#instanceOf.delete(node)) cluster.removeNode(node);
    };
    if (drainsFor === 0) remove();
    else clock.at(after(clock.now(), drainsFor), async () => remove());
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

  #forget(instance: string): void {
    this.#options.nodeClaims?.claims.delete(instance);
    this.instances.delete(instance);
  }

  #addInstance(id: string, launchedAt: Date, nodePool?: string): void {
    this.instances.set(id, { id, launchedAt, ...(nodePool !== undefined && { nodePool }) });
  }

  /** Karpenter's NodeClaim of an instance has the instance's id as its name here. */
  #claim(instance: string, createdAt: Date, { pool, claimedAfter = 0 }: Pool & { claimedAfter?: Duration }) {
    const { clock, nodeClaims } = this.#options;
    if (!nodeClaims || !pool) return;
    nodeClaims.add({ name: instance, createdAt, nodePool: pool, ...(claimedAfter === 0 && { instance }) });
    if (claimedAfter === 0) return;
    clock.at(after(clock.now(), claimedAfter), async () => nodeClaims.change(instance, { instance }));
  }

  #join(
    name: string,
    instance: string,
    { pool, labels, annotations = {} }: NodeOptions,
    joinedAt?: Date,
  ): void {
    const { cluster, clock, karpenter, nodeClaims } = this.#options;
    if (!this.instances.has(instance)) return;
    this.#instanceOf.set(name, instance);
    nodeClaims?.change(instance, { instance, node: name, openedAt: joinedAt ?? clock.now() });
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
  time: launchedAt.toISOString().replace(/\.\d+Z$/, "Z"),
  region: "eu-central-1",
  resources: [`arn:aws:ec2:eu-central-1:123456789012:instance/${instance}`],
  detail: { "instance-id": instance, state: "pending" },
});
