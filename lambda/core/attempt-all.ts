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
  if (failures.length > 1) throw new AggregateError(failures, failures.map(reasonOf).join("; "));
}

const reasonOf = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure));
