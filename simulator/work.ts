import { after, type Duration, seconds } from "../lambda/core/duration.ts";
import { parseNode } from "../lambda/kubernetes/node-objects.ts";
import type { AlarmClock, Cancel } from "../local/holder/clock.ts";
import type { FakeEc2 } from "./fake-ec2.ts";
import type { FakeCluster } from "./fake-kubernetes/fake-cluster.ts";
import { nodeCpu } from "./fake-node-claims.ts";

export type WorkOptions = Readonly<{
  clock: AlarmClock;
  ec2: FakeEc2;
  cluster: FakeCluster;
  /** Karpenter removes no node that has it. */
  annotation: string;
  nameOf: (count: number) => string;
  boot: Duration;
  /** How long nothing has changed on a node before Karpenter removes it. */
  consolidateAfter: Duration;
  notify: (text: string) => void;
}>;

/** A service, and what each of its pods requests, in thousandths of a core. */
export type Service = Readonly<{ name: string; cpu: number }>;

type Pod = Readonly<{ name: string; cpu: number; service?: string; lasts?: Duration }>;
type Node = { readonly pods: Pod[]; changedAt: Date };

/** Karpenter decides this long after something has changed. */
const decidesAfter: Duration = seconds(10);
/** A job needs a node of its own. */
const jobCpu = 7_000;

/** Services and jobs, a scheduler, and a Karpenter that launches nodes for pods without one and removes those whose pods fit on others. */
export class Work {
  readonly #options: WorkOptions;
  /** Of those on which work was placed, and those that were launched for it. */
  readonly #nodes = new Map<string, Node>();
  readonly #planned = new Set<Cancel>();
  readonly #unfollow: () => void;
  #pods = 0;
  #launched = 0;
  #evicted = 0;

  constructor(options: WorkOptions) {
    this.#options = options;
    this.#unfollow = options.cluster.onChange(({ type, node }) => {
      const { name } = node.metadata;
      if (type === "DELETED") this.#lose(name);
      else if (this.#nodes.has(name) && !this.#isKept(name))
        this.#in(decidesAfter, () => this.#consolidate());
    });
  }

  /** How many nodes were launched, and how many pods Karpenter has evicted. */
  get counts(): Readonly<{ launched: number; evicted: number }> {
    return { launched: this.#launched, evicted: this.#evicted };
  }

  /** Runs pods of a service on a node that is there. */
  place({ name, cpu }: Service, node: string, replicas: number): void {
    this.#nodes.set(node, { pods: [], changedAt: this.#now() });
    for (let n = 0; n < replicas; n++) this.#bind(this.#newPod({ service: name, cpu }), node);
  }

  /** Starts jobs: on empty nodes first, and on new ones where there are too few. */
  burst(jobs: number, lasts: Duration): void {
    const starting = jobs === 1 ? "a job starts" : `${jobs} jobs start`;
    this.#start(
      Array.from({ length: jobs }, () => this.#newPod({ cpu: jobCpu, lasts })),
      starting,
    );
  }

  /** Starts or ends pods of a service; those end first of which most are on a node. */
  scale({ name, cpu }: Service, replicas: number): void {
    const podsOn = (node: Node) => node.pods.filter(({ service }) => service === name);
    const all = () => [...this.#nodes.values()].flatMap(podsOn).length;
    const before = all();
    if (replicas > before) {
      const pods = Array.from({ length: replicas - before }, () => this.#newPod({ service: name, cpu }));
      this.#start(pods, `${name} grows from ${before} to ${replicas} pods`);
      return;
    }
    this.#options.notify(`${name} shrinks from ${before} to ${replicas} pods`);
    while (all() > replicas) {
      const [fullest] = [...this.#nodes].toSorted(([, a], [, b]) => podsOn(b).length - podsOn(a).length);
      const last = fullest && podsOn(fullest[1]).at(-1);
      if (!last) return;
      this.#end(last, fullest[0]);
    }
  }

  stop(): void {
    this.#unfollow();
    for (const cancel of this.#planned) cancel();
  }

  #newPod(pod: Omit<Pod, "name">): Pod {
    this.#pods += 1;
    return { name: `${pod.service ?? "job"}-${this.#pods}`, ...pod };
  }

  /** Pods that fit on no node share as few new ones as they can. */
  #start(pods: readonly Pod[], why: string): void {
    const found = new Set<string>();
    const launches: Pod[][] = [];
    for (const pod of pods) {
      const node = this.#roomFor(pod, this.#nodes);
      if (node !== undefined) {
        found.add(node);
        this.#bind(pod, node);
        continue;
      }
      const shared = launches.find((one) => cpuOf(one) + pod.cpu <= nodeCpu);
      if (shared) shared.push(pod);
      else launches.push([pod]);
    }
    const on = found.size > 0 ? ` on ${[...found].join(", ")}` : "";
    const lacking = launches.length === 1 ? "a node is missing" : `${launches.length} nodes are missing`;
    this.#options.notify(`${why}${on}: ${launches.length === 0 ? "nothing is launched" : lacking}`);
    for (const each of launches) this.#launch(each);
  }

  #launch(pods: readonly Pod[]): void {
    const { ec2, boot, nameOf } = this.#options;
    this.#launched += 1;
    const { node } = ec2.launch({ name: nameOf(this.#launched), joinsAfter: boot });
    this.#in(boot, () => {
      this.#nodes.set(node, { pods: [], changedAt: this.#now() });
      for (const pod of pods) this.#bind(pod, node);
    });
  }

  /** The node with the most room. */
  #roomFor({ cpu }: Pod, nodes: ReadonlyMap<string, Node>): string | undefined {
    const free = [...nodes].map(([name, { pods }]) => [name, nodeCpu - cpuOf(pods)] as const);
    const [best] = free.filter(([, room]) => room >= cpu).toSorted(([, a], [, b]) => b - a);
    return best?.[0];
  }

  #bind(pod: Pod, name: string): void {
    const { name: podName, cpu, lasts } = pod;
    const [apiVersion, kind] = lasts === undefined ? ["apps/v1", "ReplicaSet"] : ["batch/v1", "Job"];
    this.#options.cluster.pods.add({ name: podName, node: name, cpu, owner: { apiVersion, kind } });
    this.#nodes.get(name)?.pods.push(pod);
    this.#change(name);
    if (lasts === undefined) return;
    this.#in(lasts, () => {
      if (!this.#nodes.get(name)?.pods.includes(pod)) return;
      this.#end(pod, name);
      this.#options.notify(`the job on ${name} is done`);
    });
  }

  /** A node is gone, by Karpenter or by a user, and its pods with it. */
  #lose(name: string): void {
    for (const pod of this.#nodes.get(name)?.pods ?? []) this.#options.cluster.pods.remove(pod.name);
    this.#nodes.delete(name);
  }

  #end(pod: Pod, name: string): void {
    const pods = this.#nodes.get(name)?.pods ?? [];
    pods.splice(pods.indexOf(pod), 1);
    this.#options.cluster.pods.remove(pod.name);
    this.#change(name);
  }

  #change(name: string): void {
    const node = this.#nodes.get(name);
    if (!node) return;
    node.changedAt = this.#now();
    this.#in(this.#options.consolidateAfter, () => this.#consolidate());
  }

  /** Removes empty nodes, or else the one with the fewest pods that fit elsewhere. This Karpenter kills no job. */
  #consolidate(): void {
    const { consolidateAfter, ec2, notify } = this.#options;
    const candidates = [...this.#nodes]
      .filter(
        ([name, { changedAt }]) => !this.#isKept(name) && after(changedAt, consolidateAfter) <= this.#now(),
      )
      .toSorted(([, a], [, b]) => a.pods.length - b.pods.length);
    const empty = candidates.filter(([, { pods }]) => pods.length === 0);
    for (const [name] of empty) ec2.terminate(name);
    if (empty.length > 0) {
      this.#in(decidesAfter, () => this.#consolidate());
      return;
    }
    for (const [name, { pods }] of candidates) {
      const homes = this.#homesFor(pods, name);
      if (!homes) continue;
      notify(`Karpenter evicts ${pods.length === 1 ? "a pod" : `${pods.length} pods`} from ${name}`);
      this.#evicted += pods.length;
      ec2.terminate(name);
      for (const [pod, home] of homes) this.#bind(pod, home);
      return;
    }
  }

  /** Where the pods of a node find room; undefined where one finds none, or is that of a job. */
  #homesFor(pods: readonly Pod[], from: string): ReadonlyMap<Pod, string> | undefined {
    const others = new Map(
      [...this.#nodes].flatMap(([name, node]) =>
        name === from ? [] : [[name, { ...node, pods: [...node.pods] }]],
      ),
    );
    const homes = new Map<Pod, string>();
    for (const pod of pods) {
      const home = pod.lasts === undefined ? this.#roomFor(pod, others) : undefined;
      if (home === undefined) return undefined;
      homes.set(pod, home);
      others.get(home)?.pods.push(pod);
    }
    return homes;
  }

  #isKept(name: string): boolean {
    const { cluster, annotation } = this.#options;
    const node = cluster.nodes().find(({ metadata }) => metadata.name === name);
    return node !== undefined && parseNode(node).annotations?.[annotation] !== undefined;
  }

  #now(): Date {
    return this.#options.clock.now();
  }

  #in(wait: Duration, action: () => void): void {
    const { clock } = this.#options;
    const cancel = clock.at(after(clock.now(), wait), async () => {
      this.#planned.delete(cancel);
      action();
    });
    this.#planned.add(cancel);
  }
}

const cpuOf = (pods: readonly Pod[]): number => pods.reduce((sum, { cpu }) => sum + cpu, 0);
