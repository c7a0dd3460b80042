import { BrokenSetupError, messageOf, TryAgainError } from "../core/errors.ts";

/** A service's answers that stay the same until somebody changes the account. */
const brokenSetup = new Set([
  "AccessDenied",
  "AccessDeniedException",
  "UnauthorizedOperation",
  "AuthFailure",
  "OptInRequired",
  "UnrecognizedClientException",
  "InvalidClientTokenId",
  "InvalidSignatureException",
  "SignatureDoesNotMatch",
  "ExpiredToken",
  "ExpiredTokenException",
  "CredentialsProviderError",
  "ResourceNotFoundException",
  "QueueDoesNotExist",
  "ServiceQuotaExceededException",
]);
const throttled = /Throttl|TooManyRequests|LimitExceeded|ThroughputExceeded|SlowDown/i;

/**
 * What a failed call means for us. The SDK has retried by then. `task` says what we were about and on what,
 * `remedy` what to look at; an error that is neither the world's nor the set-up's is a fault of ours and stays as it is.
 */
export function awsFailure(error: unknown, task: string, remedy: string): unknown {
  if (!(error instanceof Error)) return error;
  if (brokenSetup.has(error.name)) {
    return new BrokenSetupError(`Cannot ${task}: ${messageOf(error)}. ${remedy}`, { cause: error });
  }
  if (mayPass(error)) return new TryAgainError(`Cannot ${task} now: ${messageOf(error)}`, { cause: error });
  return error;
}

/** Whether the service was too busy, out of order or out of reach. */
export function mayPass(
  error: Error & { $fault?: unknown; $metadata?: { httpStatusCode?: number } },
): boolean {
  if (throttled.test(error.name)) return true;
  if ((error.$metadata?.httpStatusCode ?? 0) >= 500) return true;
  // Sent, but no service has spoken: the call did not arrive, timed out, or what came back was no answer.
  return error.$metadata !== undefined && error.$fault === undefined;
}
