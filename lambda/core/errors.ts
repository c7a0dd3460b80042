/** Invalid input: a retry cannot succeed. The error names every problem. */
export class BadInputError extends Error {
  readonly problems: readonly string[];

  constructor(what: string, problems: readonly string[]) {
    super(`${what}: ${problems.join("; ")}`);
    this.name = "BadInputError";
    this.problems = problems;
  }
}

/** A transient error: the same call may succeed later. */
export class TryAgainError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "TryAgainError";
  }
}

/** The set-up is wrong: a retry fails until it is repaired. */
export class BrokenSetupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "BrokenSetupError";
  }
}

/** The same kind of error, with more to read; one that we do not name stays as it is. */
export function withMore(error: unknown, more: string): unknown {
  if (error instanceof AggregateError)
    return new AggregateError(error.errors, `${messageOf(error)}; ${more}`);
  const Kind = [TryAgainError, BrokenSetupError].find((kind) => error instanceof kind);
  return Kind ? new Kind(`${messageOf(error)}; ${more}`, { cause: error }) : error;
}

/** An error's message. An SDK may take any value of an answer as its message, so it is checked. */
export function messageOf(error: unknown): string {
  // None of a host's addresses could be reached: Node reports an error for each, without a message for all.
  if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join("; ");
  const message: unknown = error instanceof Error ? error.message : error;
  return typeof message === "string" && !message.includes("[object ") ? message : "no reason was given";
}

/** An error lists this many reasons, each once: thousands of tasks may fail for the same one. */
const mostReasons = 5;

/** Runs every task, at most `limit` at a time, also when others fail; then throws what failed. */
export async function attemptAll(tasks: readonly (() => Promise<unknown>)[], limit = 1): Promise<void> {
  const failures: unknown[] = [];
  const waiting = tasks.values();
  const work = async () => {
    for (const task of waiting) {
      try {
        await task();
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: limit }, work));
  if (failures.length === 1) throw failures[0];
  if (failures.length === 0) return;
  const reasons = [...new Set(failures.map(messageOf))];
  const more = reasons.splice(mostReasons).length;
  throw new AggregateError(failures, [...reasons, ...(more > 0 ? [`and ${more} more`] : [])].join("; "));
}
