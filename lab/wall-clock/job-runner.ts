import { ApiException } from "@kubernetes/client-node";
import { seconds } from "../../lambda/core/duration.ts";
import type { World } from "../../test/real/worlds/world.ts";
import type { Job } from "../days/traces/trace.ts";
import type { Observer } from "./observer.ts";

type Run = { job: Job; attempt: number; pod?: string; isSeen?: boolean; runsSince?: number };

/**
 * Acts like a Job's controller: an evicted pod is created again and restarts its work.
 * The fake kubelet finishes pods of real Jobs at once, so these pods have no owner.
 */
export class JobRunner {
  readonly #world: World;
  readonly #observer: Observer;
  readonly #running = new Set<Run>();
  #waiting: readonly Job[];

  constructor(world: World, observer: Observer, jobs: readonly Job[]) {
    this.#world = world;
    this.#observer = observer;
    this.#waiting = jobs;
  }

  get unfinished(): number {
    return this.#waiting.length + this.#running.size;
  }

  /** Creates pods that are due, deletes those that have finished, and creates evicted ones again. */
  async advance(elapsed: number): Promise<void> {
    const due = this.#waiting.filter(({ at }) => seconds(at) <= elapsed);
    this.#waiting = this.#waiting.filter((job) => !due.includes(job));
    for (const job of due) this.#running.add({ job, attempt: 0 });
    await Promise.all([...this.#running].map((run) => this.#advance(run, elapsed)));
  }

  async #advance(run: Run, elapsed: number): Promise<void> {
    const pod = run.pod === undefined ? undefined : this.#observer.pods.get(run.pod);
    if (run.pod === undefined || (run.isSeen && !pod)) return this.#begin(run);
    run.isSeen = pod !== undefined;
    if (pod?.metadata?.deletionTimestamp || pod?.status?.phase !== "Running") return;
    run.runsSince ??= elapsed;
    if (elapsed - run.runsSince < seconds(run.job.runs)) return;
    this.#running.delete(run);
    await this.#end(run.pod);
  }

  async #begin(run: Run): Promise<void> {
    const { name, image = "batch", cpu } = run.job;
    run.attempt += 1;
    run.pod = `${name}-${run.attempt}`;
    delete run.runsSince;
    run.isSeen = false;
    const resources = { requests: { cpu: String(cpu) } };
    const containers = [{ name: "main", image: `registry.invalid/${image}`, resources }];
    const body = {
      metadata: { name: run.pod, labels: { job: name } },
      spec: { containers, restartPolicy: "Never", terminationGracePeriodSeconds: 1 },
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
