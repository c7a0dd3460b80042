import type { PointKind } from "../plots/points.ts";
import { type ClockStyle, formatSpan } from "./clock.ts";
import type { Timeline } from "./timeline.ts";

/** A number of things in words. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** A picture in a sentence: for those who do not see it, and below its title. */
export function summaryOf({ from, to, lanes, holds, points }: Timeline, clock: ClockStyle): string {
  const count = (kind: PointKind) => points.filter((point) => point.kind === kind).length;
  const parts = [
    ...(lanes.length > 0 ? [counted(lanes.length, "node")] : []),
    counted(holds.length, "hold"),
    ...(count("launch") > 0 ? [counted(count("launch"), "launch", "launches")] : []),
    ...(count("eviction") > 0 ? [counted(count("eviction"), "pod evicted", "pods evicted")] : []),
    ...(count("image") > 0 ? [counted(count("image"), "image pulled", "images pulled")] : []),
  ];
  return `${parts.join(", ")} in ${formatSpan(to - from, clock)}`;
}
