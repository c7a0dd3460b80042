import { join } from "node:path";
import type { KubeConfig } from "@kubernetes/client-node";
import { KubernetesAccess } from "../../lambda/cluster-access/cluster-rights.ts";
import { after, later, minutes, seconds } from "../../lambda/core/duration.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { dueAt } from "../../lambda/core/holds/hold.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import type { Holds, Log, Metrics, Nodes } from "../../lambda/core/ports.ts";
import { KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { kubeconfigLogin } from "../../lambda/kubernetes/kubeconfig-login.ts";
import { KubernetesNodeClaims } from "../../lambda/kubernetes/nodeclaims.ts";
import { KubernetesNodes } from "../../lambda/kubernetes/nodes.ts";
import { StoredHolds } from "../../lambda/record/stored-holds.ts";
import { StoredJournal } from "../../lambda/record/stored-journal.ts";
import type { Settings } from "../../lambda/settings.ts";
import { systemClock as clock, holdIds } from "../../lambda/system-clock.ts";
import { WallClock } from "../holder/clock.ts";
import { Holder } from "../holder/holder.ts";
import { nodeEventsOf } from "../holder/node-events.ts";
import { Timeline } from "../holder/timeline.ts";
import { ControlSocket } from "./control-socket.ts";
import { makeDataFolder } from "./data-folder.ts";
import { removeFormerMarks } from "./former-marks.ts";
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
  metrics?: Metrics;
}>;

/** The marked nodes, and when the last hold ends; undefined when the cluster does not answer. */
export type StillHeld = Readonly<{ nodes: number | "unknown"; until?: Date }>;

/** A holder at work on a real cluster. */
export type Run = Readonly<{
  holder: Holder;
  timeline: Timeline;
  /** Finishes the work under way; with `release`, everything is released by force before. Returns what stays held. */
  stop: (how?: Readonly<{ release: boolean }>) => Promise<StillHeld>;
}>;

/** The cluster could not be reached when the holder started. */
export class UnreachableClusterError extends Error {
  constructor(server: string, cause: Error) {
    const reason = cause.cause instanceof Error ? cause.cause : cause;
    super(`the cluster at ${server} cannot be reached: ${reason.message}`, { cause });
    this.name = "UnreachableClusterError";
  }
}

const noMetrics: Metrics = { add: () => {} };

/** Starts the holder as one process on the cluster of a kubeconfig. */
export async function startRun({
  settings,
  config,
  folder,
  log,
  metrics = noMetrics,
}: RunOptions): Promise<Run> {
  const { holdAnnotation: annotation, nodePools, karpenter } = settings;
  const { poolLabel, registeredLabel } = Karpenter[karpenter];
  const login = kubeconfigLogin(config);
  const api = new KubernetesClient({ login, clock, metrics });
  const closing: (() => Promise<unknown>)[] = [() => api.close()];
  const close = async () => {
    for (const action of closing.toReversed()) await action();
  };
  try {
    // A program that logs in may take longer than the answer of a server.
    await login.access();
    await checkRights(api, { deadline: after(clock.now(), seconds(5)) }).catch((cause: unknown) => {
      if (!(cause instanceof TryAgainError)) throw cause;
      throw new UnreachableClusterError(config.getCurrentCluster()?.server ?? "", cause);
    });
    await makeDataFolder(folder);
    const table = SqliteTable.open(join(folder, "record.sqlite"), clock.now());
    closing.push(async () => table.close());
    await removeFormerMarks(new KubernetesAccess({ api, clock, log }), folder, annotation, log);

    const timeline = new Timeline(() => clock.now());
    const onChange = (change: NodeChange) => {
      const reported = nodeEventsOf(change.before, change.now, { poolLabel, annotation });
      for (const one of reported) timeline.record(one);
      reportLaunch(change, holder, settings);
    };
    // A node counts once it has registered: before, its template's annotations are missing.
    const selector = `${poolLabel},${registeredLabel}`;
    const watch = new NodeWatch({ api, login, selector, clock, log, onChange });
    const launches = new WatchedLaunches(watch, { poolLabel, annotation });
    const holds = new StoredHolds(table);
    const nodes = new KubernetesNodes({ api, karpenter, annotation, nodePools, clock, metrics });
    const holder = new Holder({
      settings,
      clock: new WallClock(clock),
      log,
      timeline,
      launches,
      holds,
      journal: new StoredJournal(table, clock),
      nodeClaims: new KubernetesNodeClaims({ api, karpenter, nodePools }),
      nodes,
      ids: holdIds,
      metrics,
      queue: { window: 200, visibility: seconds(5) },
      followUps: (queue) => launches.withoutDelay(queue),
    });
    await watch.start();
    await warnOfForeignMarks({ holds, nodes, log });
    const control = await ControlSocket.open({ folder, answer: (payload) => holder.ask(payload), log });
    closing.push(() => control.close());
    await holder.start();

    const stop: Run["stop"] = async (how) => {
      await control.close();
      await watch.stop();
      await holder.stop();
      try {
        if (how?.release) await releaseAll(holder);
        return await stillHeld();
      } finally {
        await close();
      }
    };
    const stillHeld = async (): Promise<StillHeld> => {
      const context = { deadline: after(clock.now(), seconds(3)), log };
      const marked = await nodes
        .marks([], context)
        .then((marks) => [...marks.values()].reduce((sum, count) => sum + count, 0))
        .catch(() => "unknown" as const);
      const ends = (await holds.all()).records.flatMap(({ hold }) => (hold ? [dueAt(hold, settings)] : []));
      const until = ends.reduce(later, clock.now());
      return { nodes: marked, ...(until > clock.now() && { until }) };
    };
    return { holder, timeline, stop };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The first sweep releases nodes that this record does not know, among them those of another holder. */
async function warnOfForeignMarks({ holds, nodes, log }: Readonly<{ holds: Holds; nodes: Nodes; log: Log }>) {
  const known = (await holds.all()).records.flatMap(({ hold }) => hold?.id ?? []);
  const marks = await nodes.marks(known, { deadline: after(clock.now(), minutes(1)), log });
  const count = [...marks.values()].reduce((sum, marked) => sum + marked, 0);
  if (count > 0)
    log.warn("nodes held by a holder with another record are released: is one deployed?", { nodes: count });
}

async function releaseAll(holder: Holder): Promise<void> {
  const { failed, left } = await holder.release({ force: true, reason: "the holder was stopped" });
  if (failed === 0 && !left) return;
  throw new TryAgainError("Not every node could be released: some still carry a mark of ours");
}

/** A node that appears is a launch; one that has outlived a hold's time would start none. */
function reportLaunch({ before, now }: NodeChange, holder: Holder, { hold }: Settings): void {
  if (before || !now || after(now.createdAt, hold) <= clock.now()) return;
  const { instance, createdAt: launchedAt } = now;
  const launches = [{ instance, launchedAt }];
  const followUp = { kind: "launches", launches, firstSeenAt: clock.now(), attempt: 0 } as const;
  holder.queue.send({ followUp });
}
