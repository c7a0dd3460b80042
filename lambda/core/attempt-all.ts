import { messageOf } from "./errors.ts";

/** Thousands may fail for the same reason. */
const mostReasons = 5;

/** Does each, whatever becomes of the others; then fails with what failed. */
export async function attemptAll(works: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const work of works) {
    try {
      await work();
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length === 0) return;
  const reasons = failures.slice(0, mostReasons).map(messageOf);
  const more = failures.length - reasons.length;
  throw new AggregateError(failures, [...reasons, ...(more > 0 ? [`and ${more} more`] : [])].join("; "));
}
