import { BadInputError, BrokenSetupError, messageOf, TryAgainError } from "../../lambda/core/errors.ts";
import { fileProblem } from "../../local/file-problem.ts";
import { StartError } from "../../local/run/rights.ts";
import { Exit, type Terminal } from "./terminal.ts";
import { readable } from "./text.ts";

/** Something did not work, and this is what to do next. */
export class Failure extends Error {
  readonly remedy: string;
  readonly exit: Exit;

  constructor(message: string, remedy: string, exit: Exit = Exit.failed) {
    super(message);
    this.remedy = remedy;
    this.exit = exit;
  }
}

/** Nothing failed, and the answer is no: the command printed it, and ends with a code of its own. */
export class AnswerNo extends Error {}

/** What to do after a wrong call of this command. */
export const seeHelp = (command: string): string => `See \`${command} --help\`.`;

/**
 * Prints what failed and, on a second line, what to do next, without a stack trace. Returns the exit code. `command` is
 * the one whose help helps.
 */
export function printFailure(error: unknown, { notify, env }: Terminal, command: string): Exit {
  notify(`error: ${readable(isOfFile(error) ? `${error.path}: ${fileProblem(error)}` : messageOf(error))}`);
  notify(readable(remedyFor(error, command)));
  if (error instanceof BadInputError) return Exit.usage;
  if (env.DEBUG && error instanceof Error) notify(error.stack ?? "");
  return error instanceof Failure ? error.exit : Exit.failed;
}

function remedyFor(error: unknown, command: string): string {
  if (error instanceof BadInputError) return `Nothing was changed. ${seeHelp(command)}`;
  if (error instanceof Failure || error instanceof StartError) return error.remedy;
  if (error instanceof BrokenSetupError) return "Fix that first: until then the same command fails again.";
  if (isOfFile(error)) return "Check that path, or name another.";
  if (error instanceof AggregateError && error.errors.length > 0) {
    // What does not pass by itself.
    const lasting = error.errors.find((one) => !(one instanceof TryAgainError));
    return remedyFor(lasting ?? error.errors[0], command);
  }
  if (error instanceof TryAgainError) return "This may pass: try again in a moment.";
  return "This was not expected. Run again with DEBUG=1 to see where it happened, and please report it.";
}

/** The file system's own errors name the call and the path. */
const isOfFile = (error: unknown): error is Readonly<{ path: string }> =>
  Object(error).syscall !== undefined && Object(error).path !== undefined;
