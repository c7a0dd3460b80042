import { formatDuration } from "../../lambda/core/duration.ts";
import type { Question } from "./advice.ts";

/** The model's assumptions, printed beside its figures. */
export const assumptions = ({
  regretWithin,
  begunBefore,
  scope,
  maxHold,
  breather,
  relaunchCost,
}: Question): readonly string[] => [
  `A node that Karpenter removed counts as regretted when its NodePool launched another within ${formatDuration(regretWithin)}.`,
  "A node that a hold keeps replaces the next launch in its NodePool, whatever its instance type.",
  "CloudTrail does not record why Karpenter ended a node: expired nodes, and those it drained ahead of an interruption, count as removed, although a hold would not have kept them.",
  `A disruption that Karpenter began before a hold continues: ends within ${formatDuration(begunBefore)} of a hold's start are not avoided.`,
  "With several NodePools, the advice for each assumes that only its own launches hold it.",
  `A launch that is spared uses held nodes instead, which extends the hold. With auto, a relaunch is worth ${formatDuration(relaunchCost)} of node time.`,
  `Holds are by ${scope === "cluster" ? "cluster" : "NodePool"}, ${maxHold > 0 ? `${formatDuration(maxHold)} at most, with a breather of ${formatDuration(breather)}` : "without a cap"}.`,
];
