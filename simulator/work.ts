import { after, type Duration, seconds } from "../lambda/core/duration.ts";
import { parseNode } from "../lambda/kubernetes/node-objects.ts";
import type { AlarmClock, Cancel } from "../local/holder/clock.ts";
import type { FakeEc2 } from "./fake-ec2.ts";
import type { FakeCluster } from "./fake-kubernetes/fake-cluster.ts";

export type WorkOptions = Readonly<{
  clock: AlarmClock;
  ec2: FakeEc2;
  cluster: FakeCluster;
  /** Karpenter removes no node that has it. */
  annotation: string;
  nameOf: (count: number) => string;
  boot: Duration;
  /** How long a node is empty before Karpenter removes it. */
  consolidateAfter: Duration;
  notify: (text: string) => void;
}>;

/** Karpenter decides this long after something has changed. */
const decidesAfter: Duration = seconds(10);

/** Jobs, each alone on its node; and a Karpenter that launches a node for a job without one, and removes empty nodes. */
export class Work {
  readonly #options: WorkOptions;
  /** Whether a job runs on each. */
  readonly #nodes = new Map<string, boolean>();
  readonly #planned = new Set<Cancel>();
  readonly #unfollow: () => void;
  #launched = 0;

  constructor(options: WorkOptions) {
    this.#options = options;
    this.#unfollow = options.cluster.onChange(({ type, node }) => {
      const { name } = node.metadata;
      if (type === "DELETED") this.#nodes.delete(name);
      else if (!this.#isKept(name)) this.#in(decidesAfter, () => this.#consolidate(name));
    });
  }

  /** How many nodes were launched. */
  get launched(): number {
    return this.#launched;
  }

  /** Starts jobs: on empty nodes first, and on new ones where there are too few. */
  burst(jobs: number, lasts: Duration): void {
    const empty = [...this.#nodes].filter(([, isBusy]) => !isBusy).slice(0, jobs);
    const missing = jobs - empty.length;
    const found = empty.map(([name]) => name).join(", ");
    const starting = `${jobs === 1 ? "a job starts" : `${jobs} jobs start`}${found && ` on ${found}`}`;
    const lacking = missing === 1 ? "a node is missing" : `${missing} nodes are missing`;
    this.#options.notify(`${starting}: ${missing === 0 ? "nothing is launched" : lacking}`);
    for (const [name] of empty) this.#start(name, lasts);
    for (let n = 0; n < missing; n++) this.#launch(lasts);
  }

  stop(): void {
    this.#unfollow();
    for (const cancel of this.#planned) cancel();
  }

  #launch(lasts: Duration): void {
    const { ec2, boot, nameOf } = this.#options;
    this.#launched += 1;
    const { node } = ec2.launch({ name: nameOf(this.#launched), joinsAfter: boot });
    this.#in(boot, () => this.#start(node, lasts));
  }

  #start(name: string, lasts: Duration): void {
    const { notify, consolidateAfter } = this.#options;
    this.#nodes.set(name, true);
    this.#in(lasts, () => {
      if (!this.#nodes.has(name)) return;
      this.#nodes.set(name, false);
      notify(`the job on ${name} is done`);
      this.#in(consolidateAfter, () => this.#consolidate(name));
    });
  }

  #consolidate(name: string): void {
    const isEmpty = this.#nodes.get(name) === false;
    if (isEmpty && !this.#isKept(name)) this.#options.ec2.terminate(name);
  }

  #isKept(name: string): boolean {
    const { cluster, annotation } = this.#options;
    const node = cluster.nodes().find(({ metadata }) => metadata.name === name);
    return node !== undefined && parseNode(node).annotations?.[annotation] !== undefined;
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
