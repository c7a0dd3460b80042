import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { KubeConfig } from "@kubernetes/client-node";
import { KubernetesAccess } from "../../lambda/cluster-access/cluster-rights.ts";
import { after, seconds } from "../../lambda/core/duration.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import type { Log, Metrics } from "../../lambda/core/ports.ts";
import { KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { kubeconfigLogin } from "../../lambda/kubernetes/kubeconfig-login.ts";
import { KubernetesNodeClaims } from "../../lambda/kubernetes/nodeclaims.ts";
import { KubernetesNodes } from "../../lambda/kubernetes/nodes.ts";
import { StoredHolds } from "../../lambda/record/stored-holds.ts";
import { StoredJournal } from "../../lambda/record/stored-journal.ts";
import type { Settings } from "../../lambda/settings.ts";
import { systemClock as clock, holdIds } from "../../lambda/system-clock.ts";
import { Holder } from "../holder/holder.ts";
import { nodeEventsOf } from "../holder/node-events.ts";
import { Timeline } from "../holder/timeline.ts";
import { WallClock } from "../holder/wall-clock.ts";
import { bringMarks } from "./bring-marks.ts";
import { type NodeChange, NodeWatch } from "./node-watch.ts";
import { checkRights } from "./rights.ts";
import { SqliteTable } from "./sqlite-table.ts";
import { WatchedLaunches } from "./watched-launches.ts";

export type RunOptions = Readonly<{
  settings: Settings;
  config: KubeConfig;
  /** Where the record is kept; one holder at a time. */
  folder: string;
  log: Log;
}>;

/** A holder at work on a real cluster. */
export type Run = Readonly<{
  holder: Holder;
  timeline: Timeline;
  /** Finishes what is in hand; with `release`, everything is released by force before. */
  stop: (how?: Readonly<{ release: boolean }>) => Promise<void>;
}>;

const noMetrics: Metrics = { add: () => {} };

/** Starts the holder as one process on the cluster of a kubeconfig. */
export async function startRun({ settings, config, folder, log }: RunOptions): Promise<Run> {
  const { holdAnnotation: annotation, nodePools, karpenter } = settings;
  const { poolLabel, registeredLabel } = Karpenter[karpenter];
  const login = kubeconfigLogin(config);
  const api = new KubernetesClient({ login, clock, metrics: noMetrics });
  const closing: (() => Promise<unknown>)[] = [() => api.close()];
  const close = async () => {
    for (const action of closing.toReversed()) await action();
  };
  try {
    await checkRights(api, { deadline: after(clock.now(), seconds(10)) }).catch((cause: unknown) => {
      if (!(cause instanceof TryAgainError)) throw cause;
      const server = config.getCurrentCluster()?.server;
      throw new TryAgainError(`The cluster at ${server} does not answer: ${cause.message}`, { cause });
    });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const table = SqliteTable.open(join(folder, "record.sqlite"), clock.now());
    closing.push(async () => table.close());
    await bringMarks(new KubernetesAccess({ api, clock, log }), folder, annotation, log);

    const timeline = new Timeline(() => clock.now());
    const onChange = (change: NodeChange) => {
      const reported = nodeEventsOf(change.before, change.now, { poolLabel, annotation });
      for (const one of reported) timeline.record(one);
      hear(change, holder, settings);
    };
    // A node appears for us when it registers: before, nobody knows whether its owner holds it.
    const selector = `${poolLabel},${registeredLabel}`;
    const watch = new NodeWatch({ api, login, selector, clock, log, onChange });
    const launches = new WatchedLaunches(watch, { poolLabel, annotation });
    const holder = new Holder({
      settings,
      clock: new WallClock(clock),
      log,
      timeline,
      launches,
      holds: new StoredHolds(table),
      journal: new StoredJournal(table, clock),
      nodeClaims: new KubernetesNodeClaims({ api, karpenter, nodePools }),
      nodes: new KubernetesNodes({
        api,
        karpenter,
        annotation,
        nodePools,
        clock,
        metrics: noMetrics,
      }),
      ids: holdIds,
      metrics: noMetrics,
      queue: { window: 200, visibility: seconds(5) },
      followUps: (queue) => launches.hurry(queue),
    });
    await watch.start();
    await holder.start();

    const stop: Run["stop"] = async (how) => {
      await watch.stop();
      await holder.stop();
      try {
        if (how?.release) await releaseAll(holder);
      } finally {
        await close();
      }
    };
    return { holder, timeline, stop };
  } catch (error) {
    await close();
    throw error;
  }
}

async function releaseAll(holder: Holder): Promise<void> {
  const { failed, left } = await holder.release({ force: true, reason: "the holder was stopped" });
  if (failed === 0 && !left) return;
  throw new TryAgainError("Not every node could be released: some still carry a mark of ours");
}

/** A node that appears is a launch; one that has outlived a hold's time would start none. */
function hear({ before, now }: NodeChange, holder: Holder, { hold }: Settings): void {
  if (before || !now || after(now.createdAt, hold) <= clock.now()) return;
  const { instance, createdAt: launchedAt } = now;
  const launches = [{ instance, launchedAt }];
  const followUp = { kind: "launches", launches, firstSeenAt: clock.now(), attempt: 0 } as const;
  holder.queue.send({ followUp });
}
