import { BadInputError, BrokenSetupError, messageOf, TryAgainError } from "../../lambda/core/errors.ts";
import { Exit, type Terminal } from "./terminal.ts";

/** Something did not work, and this is what to do next. */
export class Failure extends Error {
  readonly remedy: string;

  constructor(message: string, remedy: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "Failure";
    this.remedy = remedy;
  }
}

/** Prints what failed and what to do next, without a stack trace, and returns the exit code. */
export function printFailure(error: unknown, { notify, env }: Terminal): Exit {
  if (error instanceof BadInputError) {
    notify(error.message);
    notify("Nothing was changed. See --help.");
    return Exit.usage;
  }
  notify(`Failed: ${messageOf(error)}`);
  notify(remedyFor(error));
  if (env.DEBUG && error instanceof Error) notify(error.stack ?? "");
  return Exit.failed;
}

function remedyFor(error: unknown): string {
  if (error instanceof Failure) return error.remedy;
  if (error instanceof BrokenSetupError) return "Fix that first: until then the same command fails again.";
  if (isOfFile(error)) return "Check that path, or name another.";
  if (error instanceof TryAgainError) return "This may pass: try again in a moment.";
  return "This was not expected. Run again with DEBUG=1 to see where it happened, and please report it.";
}

/** The file system's own errors name the call and the path. */
const isOfFile = (error: unknown): boolean => error instanceof Error && "syscall" in error && "path" in error;
