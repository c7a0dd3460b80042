import { BrokenSetupError, TryAgainError } from "../core/errors.ts";
import { isStatus } from "./error.ts";

/** What a failed request means to those who must decide whether to try again. */
export function explain(error: unknown, action: string): Error {
  if (error instanceof TryAgainError || error instanceof BrokenSetupError) return error;
  if (isStatus(error, 403)) {
    return new BrokenSetupError(
      `The cluster does not let us ${action} (403): check ClusterRole, binding and the access entry's group, ` +
        "or apply what the command `manifest` prints",
      { cause: error },
    );
  }
  return new TryAgainError(
    `It was not possible to ${action}: ${error instanceof Error ? error.message : error}`,
    {
      cause: error,
    },
  );
}
