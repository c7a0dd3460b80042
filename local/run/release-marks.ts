import { existsSync } from "node:fs";
import type { KubeConfig } from "@kubernetes/client-node";
import { after, type Duration, minutes } from "../../lambda/core/duration.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { holdLabel, Karpenter, type KarpenterGeneration } from "../../lambda/core/marks/keys.ts";
import { mergedMarks, planRelease } from "../../lambda/core/marks/plan-marks.ts";
import type { Changed, Log, SeenNode } from "../../lambda/core/ports.ts";
import { emptyRecord } from "../../lambda/core/record.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import { KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { KubernetesNodes } from "../../lambda/kubernetes/nodes.ts";
import { StoredHolds } from "../../lambda/record/stored-holds.ts";
import { systemClock } from "../../lambda/system-clock.ts";
import { kubeconfigLogin } from "./kubeconfig-login.ts";
import { refuseUnreachable, whyUnreachable } from "./rights.ts";
import { RunTable, recordIn } from "./run-table.ts";

export type ReleaseMarksOptions = Readonly<{
  config: KubeConfig;
  log: Log;
  /** The annotation of the marks, where it is neither of Karpenter's. */
  annotation?: string | undefined;
  /** A person waits: a cluster that cannot be reached fails at once. */
  isTriedOnce?: boolean;
  within?: Duration;
}>;

const metrics = { add: () => {} };

/**
 * Removes every mark by its label alone: without a record, settings or AWS. The API server records which annotations are
 * ours; where it does not, ours is the one that the node's generation of Karpenter reads.
 */
export async function releaseMarks(
  options: ReleaseMarksOptions,
): Promise<Pick<Changed, "released" | "kept" | "failed" | "left">> {
  const { config, log, annotation, isTriedOnce = false, within = minutes(3) } = options;
  const clock = systemClock;
  const server = config.getCurrentCluster()?.server;
  const login = kubeconfigLogin(config);
  const api = new KubernetesClient({ login, clock, metrics });
  const context = { deadline: after(clock.now(), within), log };
  const annotationOf = (karpenter: KarpenterGeneration) => annotation ?? Karpenter[karpenter].annotation;
  const nodesOf = (karpenter: KarpenterGeneration) =>
    new KubernetesNodes({
      api,
      karpenter,
      annotation: annotationOf(karpenter),
      nodePools: { only: [], except: [] },
      metrics,
    });
  try {
    if (isTriedOnce) {
      await login.access();
      await refuseUnreachable(api, server);
    }
    const marked = await nodesOf("v1")
      .listMarked(context)
      .catch((error: unknown) => {
        throw whyUnreachable(error, server);
      });
    const all: Changed[] = [];
    for (const karpenter of ["v1", "v0.31"] as const) {
      const own = marked.filter((node) => generationOf(node) === karpenter);
      const changes = own.map((node) => ({
        ...({ do: "release", node, scope: wholeCluster } as const),
        holdId: node.labels?.[holdLabel] ?? "",
      }));
      warnOfMerged(own, annotationOf(karpenter), log);
      all.push(await nodesOf(karpenter).change(changes, context));
    }
    const total = (name: "released" | "kept" | "failed") => all.reduce((sum, one) => sum + one[name], 0);
    const [released, kept, failed] = [total("released"), total("kept"), total("failed")];
    return { released, kept, failed, left: all.some(({ left }) => left) };
  } finally {
    await api.close();
  }
}

const generationOf = ({ labels = {} }: SeenNode): KarpenterGeneration =>
  labels[Karpenter["v0.31"].poolLabel] !== undefined && labels[Karpenter.v1.poolLabel] === undefined
    ? "v0.31"
    : "v1";

/** Without its label nobody would find such a node again; its mark is removed when somebody names the annotation. */
function warnOfMerged(marked: readonly SeenNode[], annotation: string, log: Log): void {
  const staying = marked.filter((node) => planRelease(node, { annotation }).change === undefined);
  for (const key of new Set(staying.flatMap(mergedMarks)))
    log.warn("nodes keep their label: an annotation may be the mark, and who set it is not recorded", {
      annotation: key,
      nodes: staying.filter((node) => mergedMarks(node).includes(key)).length,
      remedy: `if it was the holder's holdAnnotation, release again with --hold-annotation ${key}`,
    });
}

/** Ends in the record of a run what it holds, so that the next run does not continue it. No release waits for that. */
export async function endRecorded(folder: string, { log, reason }: Readonly<{ log: Log; reason: string }>) {
  if (!existsSync(recordIn(folder))) return;
  try {
    const table = RunTable.openUndamaged({ folder, clock: systemClock, log });
    try {
      const holds = new StoredHolds(table, systemClock);
      const record = (await holds.find(wholeCluster)) ?? emptyRecord(wholeCluster);
      await holds.write({ ...record, released: { at: systemClock.now(), because: reason } });
      if (!table.isSaved) throw new TryAgainError("it could not be written");
    } finally {
      table.close();
    }
  } catch (error) {
    log.warn("the record could not be changed: a run that reads it may mark nodes again", { error });
  }
}
