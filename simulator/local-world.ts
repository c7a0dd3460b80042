import { Karpenter } from "../lambda/core/marks/keys.ts";
import type { Journal, Log, Metrics } from "../lambda/core/ports.ts";
import type { KubernetesCall, KubernetesCaller } from "../lambda/kubernetes/client.ts";
import { parseNode } from "../lambda/kubernetes/node-objects.ts";
import type { ItemTable } from "../lambda/record/item-table.ts";
import { StoredHolds } from "../lambda/record/stored-holds.ts";
import { StoredJournal } from "../lambda/record/stored-journal.ts";
import type { Settings } from "../lambda/settings.ts";
import { holdIds } from "../lambda/system-clock.ts";
import type { AlarmClock } from "../local/holder/clock.ts";
import { clusterPorts } from "../local/holder/cluster-ports.ts";
import { Holder } from "../local/holder/holder.ts";
import { nodeEventsOf } from "../local/holder/node-events.ts";
import { Timeline } from "../local/holder/timeline.ts";
import { FakeEc2 } from "./fake-ec2.ts";
import type { FakeCluster } from "./fake-kubernetes/fake-cluster.ts";
import { FakeNodeClaims } from "./fake-node-claims.ts";
import { MemoryTable } from "./memory-table.ts";

export type LocalWorldOptions = Readonly<{
  settings: Settings;
  clock: AlarmClock;
  log: Log;
  cluster: FakeCluster;
  /** Called before the cluster answers; an error is the answer. */
  onCall?: (call: KubernetesCall) => void;
  /** The record that an earlier process left. */
  table?: ItemTable;
}>;

/** The holder of one process, with its real node adapter, on a fake cluster and a fake EC2. */
export type LocalWorld = Readonly<{
  cluster: FakeCluster;
  ec2: FakeEc2;
  nodeClaims: FakeNodeClaims;
  holder: Holder;
  journal: Journal;
  timeline: Timeline;
  close: () => Promise<void>;
}>;

const metrics: Metrics = { add: () => {} };

/** Creates a world without a node; the holder does nothing before it is started. */
export function localWorld(options: LocalWorldOptions): LocalWorld {
  const { settings, clock, log, cluster, onCall = () => {}, table = new MemoryTable() } = options;
  const { karpenter, holdAnnotation: annotation } = settings;
  const { poolLabel } = Karpenter[karpenter];
  const journal = new StoredJournal(table, clock);
  const timeline = new Timeline(() => clock.now());
  cluster.onChange(({ type, before, node }) => {
    const now = type === "DELETED" ? undefined : parseNode(node);
    const was = type === "DELETED" ? parseNode(node) : before && parseNode(before);
    for (const event of nodeEventsOf(was, now, { poolLabel, annotation })) timeline.record(event);
  });
  const send = (event: unknown, delay: number) => holder.queue.send(event, delay);
  const nodeClaims = new FakeNodeClaims();
  const ec2 = new FakeEc2({ clock, cluster, karpenter, timeline, nodeClaims, send });
  const api: KubernetesCaller = {
    call: async (call) => {
      onCall(call);
      return FakeNodeClaims.answers(call) ? nodeClaims.answer(call) : cluster.call(call);
    },
  };
  const holder = new Holder({
    settings,
    clock,
    log,
    timeline,
    holds: new StoredHolds(table, clock),
    journal,
    ...clusterPorts(settings, { api, clock, metrics }),
    launches: ec2,
    ids: holdIds,
    metrics,
  });
  const close = async () => {
    ec2.close();
    await holder.stop();
  };
  return { cluster, ec2, nodeClaims, holder, journal, timeline, close };
}
