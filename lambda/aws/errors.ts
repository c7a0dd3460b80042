import { BrokenSetupError, messageOf, TryAgainError } from "../core/errors.ts";

/** What the name of an AWS error means, whichever service answers with it. */
const meanings = {
  // SQS has names of its own where the key of a queue cannot be used.
  denied: [
    "AccessDenied",
    "AccessDeniedException",
    "KmsAccessDenied",
    "KmsDisabled",
    "KmsInvalidState",
    "KmsNotFound",
    "UnauthorizedOperation",
  ],
  "bad credentials": [
    "AuthFailure",
    "CredentialsProviderError",
    "ExpiredToken",
    "ExpiredTokenException",
    "InvalidClientTokenId",
    "InvalidSignatureException",
    "OptInRequired",
    "RequestExpired",
    "SignatureDoesNotMatch",
    "TokenProviderError",
    "TokenRefreshRequired",
    "UnrecognizedClientException",
  ],
  "not found": [
    "AWS.SimpleQueueService.NonExistentQueue",
    "NoSuchEntity",
    "NoSuchEntityException",
    "QueueDoesNotExist",
    "ResourceNotFoundException",
  ],
  "exists already": ["ConflictException", "ResourceInUseException"],
  "quota exceeded": ["ServiceQuotaExceededException"],
  // EKS calls a role that it does not know yet an invalid principal.
  "invalid parameter": ["InvalidParameterException"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type AwsMeaning = keyof typeof meanings;

const byName = new Map(
  Object.entries(meanings).flatMap(([meaning, names]) => names.map((name) => [name as string, meaning])),
);

/** Whether an error of AWS has this meaning. */
export const isAws = (error: unknown, meaning: AwsMeaning): boolean =>
  error instanceof Error && byName.get(error.name) === meaning;

/** These errors stay until the account is changed. */
const lasting: readonly AwsMeaning[] = ["denied", "bad credentials", "not found", "quota exceeded"];
const throttled = /Throttl|TooManyRequests|LimitExceeded|ThroughputExceeded|SlowDown/i;

/**
 * The error to throw for a failed call; the SDK has retried by then. `task` names the call and its target, `remedy` what
 * to check. An error that is neither transient nor of the set-up is a bug of ours and stays as it is.
 */
export function awsFailure(error: unknown, task: string, remedy: string): unknown {
  if (!(error instanceof Error)) return error;
  if (lasting.some((meaning) => isAws(error, meaning))) {
    return new BrokenSetupError(`Cannot ${task}: ${messageOf(error)}. ${remedy}`, { cause: error });
  }
  if (isTransient(error))
    return new TryAgainError(`Cannot ${task} now: ${messageOf(error)}`, { cause: error });
  return error;
}

type SdkError = Error & { $fault?: unknown; $metadata?: { httpStatusCode?: number } };

/** Whether the service was overloaded, failing or unreachable. */
export function isTransient(error: SdkError): boolean {
  if (throttled.test(error.name)) return true;
  return (error.$metadata?.httpStatusCode ?? 0) >= 500 || isUnanswered(error);
}

/** Whether no service has answered: the call did not arrive, timed out, or what came back was no answer. */
export const isUnanswered = (error: unknown): boolean => {
  const { $metadata, $fault }: SdkError = Object(error);
  return $metadata !== undefined && $fault === undefined;
};
