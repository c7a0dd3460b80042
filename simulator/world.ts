import { Karpenter } from "../lambda/core/marks/keys.ts";
import type { Journal, Log, Metrics, Nodes } from "../lambda/core/ports.ts";
import { KubernetesClient } from "../lambda/kubernetes/client.ts";
import { parseNode } from "../lambda/kubernetes/node-objects.ts";
import { KubernetesNodeClaims } from "../lambda/kubernetes/nodeclaims.ts";
import { KubernetesNodes } from "../lambda/kubernetes/nodes.ts";
import { StoredHolds } from "../lambda/record/stored-holds.ts";
import { StoredJournal } from "../lambda/record/stored-journal.ts";
import type { Settings } from "../lambda/settings.ts";
import { holdIds } from "../lambda/system-clock.ts";
import type { AlarmClock } from "../local/holder/alarm-clock.ts";
import { Holder } from "../local/holder/holder.ts";
import { nodeEventsOf } from "../local/holder/node-events.ts";
import { Timeline } from "../local/holder/timeline.ts";
import { SqliteTable } from "../local/run/sqlite-table.ts";
import { CloudStandIn } from "./fake-ec2.ts";
import { FakeKubernetesServer } from "./fake-kubernetes/fake-kubernetes-server.ts";

export type StandInWorldOptions = Readonly<{
  settings: Settings;
  clock: AlarmClock;
  log: Log;
  /** Puts something between the core and the nodes. */
  nodes?: (nodes: Nodes) => Nodes;
}>;

/** The real holder, with its own adapters, upon a cluster and a cloud that only stand in. */
export type StandInWorld = Readonly<{
  cluster: FakeKubernetesServer;
  cloud: CloudStandIn;
  holder: Holder;
  journal: Journal;
  timeline: Timeline;
  close: () => Promise<void>;
}>;

const noMetrics: Metrics = { add: () => {} };

/** Opens a world without a node; the holder does nothing before it is started. */
export async function openStandInWorld(options: StandInWorldOptions): Promise<StandInWorld> {
  const { settings, clock, log } = options;
  const { poolLabel } = Karpenter[settings.karpenter];
  const { holdAnnotation: annotation, nodePools } = settings;
  const table = SqliteTable.inMemory();
  const cluster = await FakeKubernetesServer.start({ now: () => clock.now() });
  const timeline = new Timeline(() => clock.now());
  cluster.onChange(({ type, before, node }) => {
    const now = type === "DELETED" ? undefined : parseNode(node);
    const was = type === "DELETED" ? parseNode(node) : before && parseNode(before);
    for (const told of nodeEventsOf(was, now, { poolLabel, annotation })) timeline.record(told);
  });

  const login = { access: async () => cluster.access(), refresh: () => {} };
  const api = new KubernetesClient({ login, clock, metrics: noMetrics });
  const nodes = new KubernetesNodes({
    api,
    karpenter: settings.karpenter,
    annotation,
    nodePools,
    clock,
    metrics: noMetrics,
  });
  const journal = new StoredJournal(table, clock);
  const cloud = new CloudStandIn({
    clock,
    cluster,
    karpenter: settings.karpenter,
    timeline,
    onEvent: (envelope) => holder.queue.send(envelope),
  });
  const holder = new Holder({
    settings,
    clock,
    log,
    journal,
    timeline,
    holds: new StoredHolds(table),
    nodes: options.nodes?.(nodes) ?? nodes,
    nodeClaims: new KubernetesNodeClaims({ api, karpenter: settings.karpenter, nodePools }),
    launches: cloud,
    ids: holdIds,
    metrics: noMetrics,
  });

  const close = async () => {
    cloud.close();
    await holder.stop();
    await api.close();
    await cluster.stop();
    table.close();
  };
  return { cluster, cloud, holder, journal, timeline, close };
}
