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
  `A node that Karpenter took away counts as regretted when its NodePool launched another within ${formatDuration(regretWithin)}.`,
  "A node that a hold keeps takes the place of the next launch in its NodePool, whatever its instance type.",
  "CloudTrail does not record why Karpenter ended a node: expired nodes, and those it drained ahead of an interruption, count as taken away, although a hold would not have kept them.",
  `What Karpenter had begun before a hold goes on: ends within ${formatDuration(begunBefore)} after a hold's beginning are not avoided.`,
  "Where there are several NodePools, each one's advice is worked out as if its own launches alone held it.",
  `A launch that is spared uses nodes that are held, which extends the hold. With auto, a relaunch is worth ${formatDuration(relaunchCost)} of a node.`,
  `Holds are by ${scope === "cluster" ? "cluster" : "NodePool"}, ${maxHold > 0 ? `${formatDuration(maxHold)} at most, with a breather of ${formatDuration(breather)}` : "without a cap"}.`,
];
