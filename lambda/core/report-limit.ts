import type { Context, Unavailable } from "./ports.ts";

/** Logs and counts a right that an admin of the cluster has not granted. */
export function reportLimit(
  { log, metrics }: Pick<Context, "log" | "metrics">,
  { unavailable, isMissingRight }: Unavailable,
): void {
  if (!isMissingRight) return;
  log.warn("the cluster has not given the holder all of its rights", { because: unavailable });
  metrics.add("RightsMissing", 1);
}
