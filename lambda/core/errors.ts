/** Input from outside that can never succeed; every problem is named. */
export class BadInputError extends Error {
  readonly problems: readonly string[];

  constructor(what: string, problems: readonly string[]) {
    super(`${what}: ${problems.join("; ")}`);
    this.name = "BadInputError";
    this.problems = problems;
  }
}

/** The outside world did not answer as it should; the same call may succeed later. */
export class TryAgainError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "TryAgainError";
  }
}

/** The set-up is wrong; a retry fails until it is repaired. */
export class BrokenSetupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "BrokenSetupError";
  }
}

/** What an error says; an SDK takes over for its message whatever stands in its place in an answer. */
export function messageOf(error: unknown): string {
  // None of a host's addresses could be reached: Node reports an error for each, without a message for all.
  if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join("; ");
  const message: unknown = error instanceof Error ? error.message : error;
  return typeof message === "string" && !message.includes("[object ") ? message : "no reason was given";
}

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
