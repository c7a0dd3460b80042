import type { Context, Unavailable } from "./ports.ts";

/** Counts and logs what an admin of the cluster has still to allow. */
export function reportLimit(
  { log, metrics }: Pick<Context, "log" | "metrics">,
  { unavailable, isMissingRight }: Unavailable,
): void {
  if (!isMissingRight) return;
  log.warn("the cluster has not given the holder all of its rights", { because: unavailable });
  metrics.add("RightsMissing", 1);
}
