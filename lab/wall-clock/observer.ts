import { type Informer, makeInformer, type V1Node, type V1Pod } from "@kubernetes/client-node";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import type { NodeMeta } from "../../lambda/core/marks/plan-marks.ts";
import { parseNode } from "../../lambda/kubernetes/node-objects.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import { nodeEventsOf } from "../../local/holder/node-events.ts";
import { Timeline } from "../../local/holder/timeline.ts";
import type { World } from "../../test/real/worlds/world.ts";

const namespace = "default";

/** When a pod was created, bound to a node, running and gone, as far as it was; a job that was evicted has several pods. */
export type PodTimes = Readonly<{ pod: string; job?: string; created: Date }> & {
  node?: string;
  bound?: Date;
  running?: Date;
  gone?: Date;
};

/** Watches a cluster from outside and records what happens to its nodes and pods; independent of the holder. */
export class Observer extends Timeline {
  readonly pods = new Map<string, V1Pod>();
  readonly #nodes = new Map<string, NodeMeta>();
  readonly #images = new Set<string>();
  readonly #evicted = new Set<string>();
  readonly #times = new Map<string, PodTimes>();
  readonly #stops: (() => Promise<void>)[] = [];

  constructor() {
    super(() => systemClock.now());
  }

  /** Of every pod so far, in the order of their creation. */
  get podTimes(): readonly PodTimes[] {
    return [...this.#times.values()];
  }

  async start({ plane, core }: World): Promise<void> {
    const config = plane.config("admin");
    const nodes = makeInformer<V1Node>(config, "/api/v1/nodes", () => core.listNode());
    const pods = makeInformer<V1Pod>(config, `/api/v1/namespaces/${namespace}/pods`, () =>
      core.listNamespacedPod({ namespace }),
    );
    await this.#follow(nodes, (node, isGone) => this.#seeNode(node, isGone));
    await this.#follow(pods, (pod, isGone) => this.#seePod(pod, isGone));
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops) await stop();
  }

  /** Records evictions, times, and an image on its first pod on a node. */
  #seePod(pod: V1Pod, isGone: boolean): void {
    const name = pod.metadata?.name ?? "";
    const node = pod.spec?.nodeName;
    if (isGone) this.pods.delete(name);
    else this.pods.set(name, pod);
    this.#time(pod, isGone);
    if (!node) return;
    if (pod.status?.phase === "Running") this.#seeImage(node, pod.spec?.containers[0]?.image ?? "");
    if (!isEvicted(pod) || this.#evicted.has(name)) return;
    this.#evicted.add(name);
    this.record({ kind: "pod evicted", node, pod: name });
  }

  #time({ metadata, spec, status }: V1Pod, isGone: boolean): void {
    const now = systemClock.now();
    const { name: pod = "", labels: { job } = {} } = metadata ?? {};
    const times: PodTimes = this.#times.get(pod) ?? { pod, created: now, ...(job && { job }) };
    this.#times.set(pod, times);
    if (spec?.nodeName && !times.bound) Object.assign(times, { node: spec.nodeName, bound: now });
    if (status?.phase === "Running") times.running ??= now;
    if (isGone) times.gone ??= now;
  }

  #seeImage(node: string, image: string): void {
    const pulled = `${node} ${image}`;
    if (this.#images.has(pulled)) return;
    this.#images.add(pulled);
    this.record({ kind: "image pulled", node, image });
  }

  #seeNode(node: V1Node, isGone: boolean): void {
    // As JSON again: the client has parsed its times into dates.
    const now = parseNode(JSON.parse(JSON.stringify(node)));
    const { poolLabel, annotation } = Karpenter.v1;
    if (now.labels?.[poolLabel] === undefined) return;
    const before = this.#nodes.get(now.name);
    if (isGone && !before) return;
    for (const seen of nodeEventsOf(before, isGone ? undefined : now, { poolLabel, annotation }))
      this.record(seen);
    if (isGone) this.#nodes.delete(now.name);
    else this.#nodes.set(now.name, now);
  }

  async #follow<T extends V1Node | V1Pod>(informer: Informer<T>, see: (object: T, isGone: boolean) => void) {
    let isStopped = false;
    informer.on("add", (object) => see(object, false));
    informer.on("update", (object) => see(object, false));
    informer.on("delete", (object) => see(object, true));
    informer.on("error", () => {
      if (!isStopped) setTimeout(() => void informer.start().catch(() => {}), 500);
    });
    this.#stops.push(async () => {
      isStopped = true;
      await informer.stop();
    });
    await informer.start();
  }
}

/** Karpenter drains by the eviction API, which leaves a condition on the pod; a finished job is deleted without one. */
const isEvicted = (pod: V1Pod): boolean =>
  pod.status?.conditions?.some(
    ({ type, reason }) => type === "DisruptionTarget" && reason === "EvictionByEvictionAPI",
  ) ?? false;
