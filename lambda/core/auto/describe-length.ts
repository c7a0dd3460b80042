import { formatDuration } from "../duration.ts";
import type { HoldLength } from "./decide-hold-length.ts";

/** A learned length with its reason, as logs and commands show it. */
export function describeLength({ length, because, atHalfCost, atDoubleCost }: HoldLength): string {
  const whatIf = `${formatDuration(atHalfCost)} at half, ${formatDuration(atDoubleCost)} at double relaunchCost`;
  return `${formatDuration(length)}: ${because} (${whatIf})`;
}
