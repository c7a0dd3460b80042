import { KubeConfig } from "@kubernetes/client-node";
import { expect, vi } from "vitest";
import { after } from "../../lambda/core/duration.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import { KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { parseNode } from "../../lambda/kubernetes/node-objects.ts";
import { readSettings } from "../../lambda/settings.ts";
import { openRun, type Run, type RunOptions } from "../../local/run/run.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { FakeKubernetesServer } from "../../simulator/fake-kubernetes/fake-kubernetes-server.ts";
import { newFolder } from "../support/new-folder.ts";

const { annotation, poolLabel, registeredLabel } = Karpenter.v1;
export const settings = readSettings({ cluster: "prod", hold: "10m" });
export const release = "karpenter-node-holder run --release-only";
export const stayHeld = "nodes stay held until the holder runs again";
export const soon = { timeout: 60_000, interval: 10 };

/** Runs on a fake API server, with a folder for their record. */
export class RunWorld {
  folder = newFolder();
  log = new CollectedLog();
  readonly cluster: FakeKubernetesServer;
  readonly config = new KubeConfig();
  /** Every call that reached the cluster. */
  readonly calls: string[];
  readonly #runs: Run[] = [];

  private constructor(cluster: FakeKubernetesServer, calls: string[]) {
    this.cluster = cluster;
    this.calls = calls;
    this.config.loadFromString(cluster.kubeconfig());
  }

  static async open(): Promise<RunWorld> {
    const calls: string[] = [];
    const cluster = await FakeKubernetesServer.start({
      onRequest: ({ method, path, query }) =>
        void calls.push(`${query.has("watch") ? "WATCH" : method} ${path}`),
    });
    return new RunWorld(cluster, calls);
  }

  async close(): Promise<void> {
    vi.restoreAllMocks();
    for (const run of this.#runs) await run.stop();
    await this.cluster.stop();
  }

  /** A run that has not started yet. */
  async prepare(options: Partial<RunOptions> = {}): Promise<Run> {
    const { config, folder, log } = this;
    const run = await openRun({ settings, config, folder, log, release, ...options });
    this.#runs.push(run);
    return run;
  }

  async start(options: Partial<RunOptions> = {}, servers?: Parameters<Run["start"]>[0]): Promise<Run> {
    const run = await this.prepare(options);
    await run.start(servers);
    return run;
  }

  /** A run that holds the node a. */
  async startHolding(options?: Partial<RunOptions>): Promise<Run> {
    const run = await this.start(options);
    this.joins("a");
    await expect.poll(() => this.held(), soon).toEqual(["a"]);
    return run;
  }

  joins(
    name: string,
    {
      ago = 0,
      holdId,
      providerId = `kwok://${name}`,
    }: { ago?: number; holdId?: string; providerId?: string } = {},
  ): void {
    this.cluster.addNode({
      name,
      labels: { [poolLabel]: "default", [registeredLabel]: "true", ...(holdId && { [holdLabel]: holdId }) },
      annotations: holdId ? { [annotation]: "true" } : {},
      providerId,
      joinedAt: after(new Date(), -ago),
    });
  }

  held(): readonly string[] {
    return this.cluster
      .nodes()
      .map(parseNode)
      .flatMap(({ name, labels, annotations }) =>
        labels?.[holdLabel] && annotations?.[annotation] === "true" ? [name] : [],
      );
  }

  /** What the server sent before this has arrived after it. */
  async roundTrip(): Promise<void> {
    await (await fetch(`${this.cluster.server}/livez`)).text();
  }
}

export const untilReady = (run: Run) => expect.poll(() => run.problems, soon).toEqual([]);

/** From now on calls fail as they do when the API server is away, without repetitions. */
export const goAway = () =>
  void vi.spyOn(KubernetesClient.prototype, "call").mockRejectedValue(new TryAgainError("it is away"));
