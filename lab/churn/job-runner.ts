import { ApiException } from "@kubernetes/client-node";
import type { World } from "../../test/real/worlds/world.ts";
import type { Observer } from "./observer.ts";
import type { Job } from "./workload.ts";

type Run = { job: Job; attempt: number; pod?: string; isSeen?: boolean; runsSince?: number };

/**
 * Does what a Job's controller does: a pod that was evicted begins again, with all its work before it.
 * The fake kubelet ends pods of real Jobs the moment they start, so these pods have no owner.
 */
export class JobRunner {
  readonly #world: World;
  readonly #observer: Observer;
  readonly #minute: number;
  readonly #running = new Set<Run>();
  #waiting: readonly Job[];

  constructor(world: World, observer: Observer, jobs: readonly Job[], minute: number) {
    this.#world = world;
    this.#observer = observer;
    this.#waiting = jobs;
    this.#minute = minute;
  }

  get unfinished(): number {
    return this.#waiting.length + this.#running.size;
  }

  /** Starts what is due, ends what has run its time, begins anew what was evicted. */
  async look(elapsed: number): Promise<void> {
    const due = this.#waiting.filter(({ at }) => at * this.#minute <= elapsed);
    this.#waiting = this.#waiting.slice(due.length);
    for (const job of due) this.#running.add({ job, attempt: 0 });
    await Promise.all([...this.#running].map((run) => this.#advance(run, elapsed)));
  }

  async #advance(run: Run, elapsed: number): Promise<void> {
    const pod = run.pod === undefined ? undefined : this.#observer.pods.get(run.pod);
    if (run.pod === undefined || (run.isSeen && !pod)) return this.#begin(run);
    run.isSeen = pod !== undefined;
    if (pod?.metadata?.deletionTimestamp || pod?.status?.phase !== "Running") return;
    run.runsSince ??= elapsed;
    if (elapsed - run.runsSince < run.job.lasts * this.#minute) return;
    this.#running.delete(run);
    await this.#end(run.pod);
  }

  async #begin(run: Run): Promise<void> {
    const { name, image, cpu } = run.job;
    run.attempt += 1;
    run.pod = `${name}-${run.attempt}`;
    delete run.runsSince;
    run.isSeen = false;
    const resources = { requests: { cpu: String(cpu) } };
    const containers = [{ name: "main", image: `registry.invalid/${image}`, resources }];
    const body = {
      metadata: { name: run.pod, labels: { job: name } },
      spec: { containers, restartPolicy: "Never", terminationGracePeriodSeconds: 0 },
    };
    await this.#world.core.createNamespacedPod({ namespace: "default", body });
  }

  async #end(pod: string): Promise<void> {
    try {
      await this.#world.core.deleteNamespacedPod({ namespace: "default", name: pod });
    } catch (error) {
      if (!(error instanceof ApiException && error.code === 404)) throw error;
    }
  }
}
