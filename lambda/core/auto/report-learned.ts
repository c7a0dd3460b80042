import { minutes } from "../duration.ts";
import type { Metrics } from "../ports.ts";
import type { Learned } from "./learned.ts";

/** Estimates what the newest gap cost while its nodes were held, and whether it spared their relaunch. */
export function reportLearned(
  metrics: Metrics,
  before: Learned | undefined,
  after: Learned | undefined,
): void {
  const gap = after?.gaps.at(-1);
  if (!gap || !before?.idle || gap === before.gaps.at(-1)) return;
  const { length } = before.idle;
  const end = gap.atMost ?? gap.atLeast;
  metrics.add("IdleNodeMinutes", (gap.nodes * Math.min(end, length)) / minutes(1));
  const isSpared = gap.atMost !== undefined && gap.atMost <= length;
  if (isSpared) metrics.add("RelaunchesSpared", gap.nodes);
}
