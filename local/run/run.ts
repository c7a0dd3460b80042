import { hostname } from "node:os";
import type { KubeConfig } from "@kubernetes/client-node";
import type { Window } from "../../infra/settings/windows.ts";
import { after, type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import { attemptAll, TryAgainError } from "../../lambda/core/errors.ts";
import { lengthOf } from "../../lambda/core/launches.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import type { Clock, Log } from "../../lambda/core/ports.ts";
import { emptyRecord } from "../../lambda/core/record.ts";
import { KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { StoredHolds } from "../../lambda/record/stored-holds.ts";
import { StoredJournal } from "../../lambda/record/stored-journal.ts";
import type { Settings } from "../../lambda/settings.ts";
import { holdIds, systemClock } from "../../lambda/system-clock.ts";
import { WallClock } from "../holder/clock.ts";
import { clusterPorts } from "../holder/cluster-ports.ts";
import { changesOf } from "../holder/hold-changes.ts";
import { Holder } from "../holder/holder.ts";
import { nodeEventsOf } from "../holder/node-events.ts";
import { Timeline } from "../holder/timeline.ts";
import { clockCheck } from "./clock-check.ts";
import { ControlSocket } from "./control-socket.ts";
import { makeDataFolder } from "./data-folder.ts";
import { refuseMarksToObserve, refuseOtherAnnotation } from "./found-marks.ts";
import { kubeconfigLogin } from "./kubeconfig-login.ts";
import { type NodeChange, NodeWatch } from "./node-watch.ts";
import { refuseBesideOther } from "./other-holder.ts";
import { checkRights, mayChangeNodes, warnWithoutKarpenter } from "./rights.ts";
import { RunHealth, type RunHealthOptions } from "./run-health.ts";
import { patchingWith, RunLease } from "./run-lease.ts";
import { RunTable } from "./run-table.ts";
import { stillHeld } from "./still-held.ts";
import { WatchedLaunches } from "./watched-launches.ts";
import { Windows } from "./windows.ts";

export type RunOptions = Readonly<{
  settings: Settings;
  /** When nodes are held without a launch. */
  windows?: readonly Window[];
  config: KubeConfig;
  /** Where the record is kept; one holder at a time. */
  folder: string;
  log: Log;
  metrics?: RunHealthOptions["metrics"];
  clock?: Clock;
  /** Starts also where another holder seems to work. */
  takeOver?: boolean;
  /** The command that releases what stays held. */
  release?: string;
  /** The command that holds, where this one only observes. */
  toHold?: string;
}>;

/** Starts a server that is stopped with the holder. */
type Serve = () => Promise<Readonly<{ stop: () => Promise<void> }> | undefined>;

/** A holder on a real cluster. */
export type Run = Readonly<{
  timeline: Timeline;
  /** False when the watch of nodes has not worked for long: a supervisor should start the process again. */
  isLive: boolean;
  /** Why a launch would not be held now, or a node not released. */
  problems: readonly string[];
  /** Updates the metrics of this moment; only while it is at work, because a waiting run has no watch and an old record. */
  measure: () => void;
  /** Opens the servers, waits for another run, then works; false where it was not to wait any longer. When it fails, all is closed again. */
  start: (servers?: readonly Serve[]) => Promise<boolean>;
  /** Ends the wait for another run. */
  stopWaiting: () => void;
  /** Settles when another run has taken over. */
  lost: Promise<void>;
  /** Finishes the work under way; with `release`, everything is released by force. */
  stop: (how?: Readonly<{ release: boolean }>) => Promise<void>;
  /** Warns of nodes that stay held; stopping does so, too. */
  reportHeld: (within?: Duration) => Promise<void>;
}>;

/** Opens the record. No node is touched before the start. */
export async function openRun(options: RunOptions): Promise<Run> {
  const { settings, windows = [], config, folder, log, takeOver = false } = options;
  const { release = "karpenter-node-holder run --release-only", toHold } = options;
  const { clock = systemClock, metrics = { add: () => {} } } = options;
  const { holdAnnotation: annotation, karpenter, cluster, hold, mode } = settings;
  const { poolLabel, registeredLabel } = Karpenter[karpenter];
  const server = config.getCurrentCluster()?.server ?? "";
  const context = config.getCurrentContext();
  log.info("the holder starts", { cluster, context, server, annotation, mode });
  const wallClock = new WallClock(clock);
  const send = (message: unknown) => void holder.queue.send(message);
  const times = new Windows({ windows, clock: wallClock, send, log });
  await makeDataFolder(folder);
  const onFailure = () => metrics.add("RecordWriteFailures", 1);
  const table = RunTable.open({ folder, clock, log, onFailure });

  const login = kubeconfigLogin(config, { clock });
  const api = new KubernetesClient({ login, clock, metrics });
  const timeline = new Timeline(() => clock.now());
  const onChange = (change: NodeChange) => {
    const reported = nodeEventsOf(change.before, change.now, { poolLabel, annotation });
    for (const one of reported) timeline.record(one);
    reportLaunch(change);
  };
  /** A node that appears is a launch; one that has outlived a hold's time would start none. */
  const reportLaunch = ({ before, now }: NodeChange) => {
    if (before || !now || after(now.createdAt, lengthOf(settings)) <= clock.now()) return;
    const { instance, createdAt: launchedAt } = now;
    const launches = [{ instance, launchedAt }];
    const followUp = { kind: "launches", launches, firstSeenAt: clock.now(), attempt: 0 } as const;
    holder.queue.send({ followUp });
  };
  // A node counts once it has registered: before, its template's annotations are missing.
  const selector = `${poolLabel},${registeredLabel}`;
  const onServerTime = clockCheck({ clock, hold, log });
  const watch = new NodeWatch({ api, login, selector, clock, log, onChange, onServerTime });
  const holds = new StoredHolds(table, clock);
  const journal = new StoredJournal(table, clock);
  const health = new RunHealth({
    ...{ settings, clock, metrics },
    records: () => table.records,
    isSaved: () => table.isSaved,
    isConnected: () => watch.isConnected,
  });
  const identity = `${hostname()}_${await table.identity()}`;
  const lease = new RunLease({ api, clock, log, identity });
  const ofCluster = clusterPorts(settings, { api: patchingWith(lease, api), clock, metrics });
  const nodes = health.watching(ofCluster.nodes);
  const launches = new WatchedLaunches({ watch, nodeClaims: ofCluster.nodeClaims, clock, poolLabel });
  const holder = new Holder({
    ...{ settings, toHold, log, timeline, launches, holds, journal },
    clock: wallClock,
    ...ofCluster,
    nodes,
    ids: holdIds,
    metrics,
    onSweep: (error) => health.onSweep(error),
    queue: { window: 200, visibility: seconds(5) },
  });

  const within = (time: Duration) => ({ deadline: after(clock.now(), time), log });
  const waiting = new AbortController();
  const { promise: lost, resolve: onLost } = Promise.withResolvers<void>();
  let isAtWork = false;
  let isWaiting = false;
  let shouldRelease = false;
  const reportHeld = async (time: Duration = seconds(3)) => {
    const held = await stillHeld({ holds, nodes, rules: settings }, within(time));
    if (held) log.warn("nodes stay held until the holder runs again", { ...held, release });
  };
  /** What is open; the last one is closed first. */
  const closers: (() => Promise<unknown>)[] = [
    async () => table.close(),
    () => api.close(),
    () => lease.release(),
    // The run that has taken over releases them.
    async () => lease.isLost || (await reportHeld()),
    async () => shouldRelease && (await releaseAll(holder)),
  ];
  const stop: Run["stop"] = async (how) => {
    isAtWork = false;
    shouldRelease = how?.release ?? false;
    await attemptAll(closers.splice(0).toReversed());
  };
  const answer = async (payload: unknown) => {
    if (isAtWork) return holder.ask(payload);
    if (isWaiting)
      throw new TryAgainError("another run works on this cluster, and this one waits: ask that one");
    throw new TryAgainError("the holder is starting or stopping");
  };
  const begin = async (servers: readonly Serve[]) => {
    const control = await ControlSocket.open({ folder, answer, log });
    closers.push(() => control.close());
    for (const serve of servers) {
      const served = await serve();
      closers.push(async () => served?.stop());
    }
    // A program that logs in may take longer than the answer of a server.
    await login.access();
    await checkRights(api, { ...within(seconds(15)), server, rules: settings });
    isWaiting = true;
    const taken = await lease.take(waiting.signal, onLost);
    watch.countFromNow();
    isWaiting = false;
    if (!taken) return false;
    // The other run has changed since what this one may remember: requests that were released, a pause that is over.
    if (taken === "taken over") {
      await table.noteTakeOver();
      for (const { scope, version } of (await holds.all()).records)
        await holds.write({ ...emptyRecord(scope), version });
    }
    const marked = await nodes.listMarked(within(minutes(1)));
    const isLost = taken === "taken over" || (await table.isLost(await journal.lastSweep()));
    // First: nobody is to release the marks of another holder that works.
    const others = { takeOver, isLost };
    const foreign = await refuseBesideOther({ api, marked, holds, journal }, others, within(minutes(1)));
    refuseOtherAnnotation(marked, { annotation, release });
    const mayChange = () => mayChangeNodes(api, within(seconds(5)));
    if (mode === "observe") await refuseMarksToObserve(marked, { mayChange, release });
    if (foreign > 0) log.warn("marks of holds that are not in this record are removed", { nodes: foreign });
    await warnWithoutKarpenter(ofCluster.nodeClaims, karpenter, within(seconds(10)));
    closers.push(
      () => watch.stop(),
      () => holder.stop(),
      async () => times.stop(),
    );
    for (const record of (await holds.all()).records)
      for (const one of changesOf(undefined, record, settings)) timeline.record(one);
    await watch.start();
    isAtWork = true;
    await holder.start();
    times.start();
    return true;
  };
  const start = async (servers: readonly Serve[] = []) => {
    try {
      return await begin(servers);
    } catch (error) {
      await stop().catch((cause: unknown) => log.error("not everything could be closed", { error: cause }));
      throw error;
    }
  };
  return {
    ...{ timeline, start, stop, reportHeld },
    ...{ lost, stopWaiting: () => waiting.abort() },
    measure: () => isAtWork && health.measure(),
    get isLive() {
      return isWaiting || watch.isWorking;
    },
    get problems() {
      if (isWaiting) return [];
      return isAtWork ? health.problems : ["the holder is starting or stopping"];
    },
  };
}

/** Opens the record and starts to work. */
export async function startRun(options: RunOptions): Promise<Run> {
  const run = await openRun(options);
  await run.start();
  return run;
}

async function releaseAll(holder: Holder): Promise<void> {
  const { failed, left } = await holder.release({ force: true, reason: "the holder was stopped" });
  if (failed === 0 && !left) return;
  throw new TryAgainError("Not every node could be released: some still carry a mark of the holder");
}
