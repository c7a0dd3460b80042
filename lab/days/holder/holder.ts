import { type Duration, minutes } from "../../../lambda/core/duration.ts";
import type { Log, Metrics } from "../../../lambda/core/ports.ts";
import type { KubernetesCall, KubernetesCaller } from "../../../lambda/kubernetes/client.ts";
import { KubernetesNodeClaims } from "../../../lambda/kubernetes/nodeclaims.ts";
import { KubernetesNodes } from "../../../lambda/kubernetes/nodes.ts";
import { KubernetesPods } from "../../../lambda/kubernetes/pods.ts";
import { StoredHolds } from "../../../lambda/record/stored-holds.ts";
import { StoredJournal } from "../../../lambda/record/stored-journal.ts";
import { type RawSettings, readSettings } from "../../../lambda/settings.ts";
import { holdIds } from "../../../lambda/system-clock.ts";
import { Holder } from "../../../local/holder/holder.ts";
import { Timeline } from "../../../local/holder/timeline.ts";
import { launchEvent } from "../../../simulator/fake-ec2.ts";
import { MemoryTable } from "../../../simulator/memory-table.ts";
import { VirtualClock } from "../../../simulator/virtual-clock.ts";
import type { EngineProcess } from "../engine-process.ts";
import type { HolderFigures } from "../result.ts";
import { ReportedInstances, withAwsIds } from "./instances.ts";
import { LockStep, type Turn } from "./lock-step.ts";

/*
 * The holder as it is deployed, in lock-step with the engine: this file alone knows how a holder is put together.
 */

const metrics: Metrics = { add: () => {} };

/** Runs a whole trace with a holder; returns the engine's result beside the holder's figures. */
export async function runHolder(
  engine: EngineProcess,
  settings: RawSettings,
  onProgress: (line: unknown) => void,
  lateness = schedulerLateness(),
): Promise<Readonly<{ result: unknown; holder: HolderFigures }>> {
  const errors: string[] = [];
  const log: Log = {
    info: () => {},
    warn: () => {},
    error: (sentence, fields) => errors.push(`${sentence} ${describe(fields)}`),
  };
  const lockStep = new LockStep(engine);
  const clock = new VirtualClock(new Date(0));
  const instances = new ReportedInstances();
  const timeline = new Timeline(() => clock.now());
  let holds = 0;
  timeline.follow(({ kind }) => {
    if (kind === "hold started") holds += 1;
  });
  const holder = holderOn({ lockStep, settings, clock, log, instances, timeline, lateness });
  const play = async ({ now, launches, gone }: Turn): Promise<void> => {
    const isFirst = clock.now().getTime() === 0;
    if (isFirst) {
      clock.set(now);
      await holder.start();
    }
    for (const id of gone) instances.remove(id);
    for (const reported of launches) {
      const { instance, launchedAt } = instances.add(reported);
      // The event has reached the queue by now.
      clock.at(now, () => void holder.queue.send(launchEvent(instance, launchedAt)));
    }
    await clock.runUntil(now);
  };
  const result = await lockStep.run({ play, next: () => clock.next }, onProgress);
  return { result, holder: { holds, ...lockStep.counts, errors } };
}

type Parts = Readonly<{
  lockStep: LockStep;
  settings: RawSettings;
  clock: VirtualClock;
  log: Log;
  instances: ReportedInstances;
  timeline: Timeline;
  lateness: () => Duration;
}>;

function holderOn({ lockStep, settings: raw, clock, log, instances, timeline, lateness }: Parts): Holder {
  const settings = readSettings({ cluster: "lab", ...raw });
  const { karpenter, holdAnnotation: annotation, nodePools } = settings;
  const table = new MemoryTable();
  const api: KubernetesCaller = {
    call: async (call: KubernetesCall) => withAwsIds(await lockStep.call(call)),
  };
  return new Holder({
    settings,
    clock,
    log,
    timeline,
    holds: new StoredHolds(table, clock),
    journal: new StoredJournal(table, clock),
    nodes: new KubernetesNodes({ api, karpenter, annotation, nodePools, metrics }),
    nodeClaims: new KubernetesNodeClaims({ api, karpenter, nodePools }),
    pods: new KubernetesPods({ api }),
    launches: instances,
    ids: holdIds,
    metrics,
    lateness,
  });
}

/** EventBridge Scheduler fires within a minute after the time: evenly spread, and the same in each run. */
export function schedulerLateness(): () => Duration {
  const goldenRatio = 0.618034;
  let fired = 0;
  return () => {
    fired += 1;
    return Math.floor(((fired * goldenRatio) % 1) * minutes(1));
  };
}

const describe = (fields: unknown): string =>
  JSON.stringify(fields, (_, value) => (value instanceof Error ? String(value) : value)) ?? "";
