import { isAws, isTransient } from "../lambda/aws/errors.ts";
import { messageOf, TryAgainError } from "../lambda/core/errors.ts";
import { Failure } from "./terminal/failure.ts";

const login = "Log in (for example with `aws sso login`), or choose other credentials by --profile.";

/** What AWS errors mean to the person at the terminal, by their names. */
const remedies: readonly (readonly [names: RegExp, what: string, remedy: string])[] = [
  [/^(ExpiredToken(Exception)?|TokenRefreshRequired)$/, "the AWS credentials have expired", login],
  [/^RequestExpired$/, "the AWS credentials have expired, or this machine's clock is wrong", login],
  [/^(Credentials|Token)ProviderError$/, "no usable AWS credentials were found", login],
  [/^(UnrecognizedClientException|InvalidClientTokenId)$/, "AWS does not know these credentials", login],
  [
    /^(InvalidSignatureException|SignatureDoesNotMatch)$/,
    "AWS refused the request's signature",
    "Check the credentials, and this machine's clock.",
  ],
];

/** Whether AWS received the request and refused it. */
export const isDenied = (error: unknown): boolean => isAws(error, "denied");

/** A failed AWS call as a failure with its remedy; an error that is not AWS's, or has its remedy, stays as it is. */
export function explainAwsError(error: unknown, task: string): unknown {
  if (!(error instanceof Error) || error instanceof Failure) return error;
  const [, what, remedy] = remedies.find(([names]) => names.test(error.name)) ?? [];
  if (what && remedy) return new Failure(`${what} (${firstLine(error)})`, remedy);
  if (/region is missing/i.test(messageOf(error))) {
    return new Failure("no AWS region is set", "Use --region, or set AWS_REGION.");
  }
  if (/^region not accepted/i.test(messageOf(error))) {
    const remedy = "Correct the profile's region, or use --region with one like eu-central-1.";
    return new Failure(firstLine(error), remedy);
  }
  if (isDenied(error)) {
    return new Failure(firstLine(error), `These credentials may not ${task}: ask for that right.`);
  }
  if (isUnreachable(error)) {
    return new Failure(
      `AWS could not be reached (${reasonOf(error)})`,
      "Check the network, HTTPS_PROXY (which takes Node.js 22.21, 24.5 or later), --region and --endpoint-url.",
    );
  }
  if (/CERT|LEAF_SIGNATURE/.test(String(Reflect.get(error, "code")))) {
    return new Failure(
      `the certificate of AWS cannot be trusted (${reasonOf(error)})`,
      "If something in between reads what is encrypted, set NODE_EXTRA_CA_CERTS to its certificate authority.",
    );
  }
  return isTransient(error) ? new TryAgainError(firstLine(error)) : error;
}

const unreachable = /ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/;

const isUnreachable = (error: Error): boolean =>
  error.name === "TimeoutError" || unreachable.test(`${Reflect.get(error, "code")} ${messageOf(error)}`);

// Several addresses refused together are an error without a message of its own.
const reasonOf = (error: Error): string =>
  firstLine(error) || String(Reflect.get(error, "code") ?? error.name);

const firstLine = (error: Error): string => messageOf(error).split("\n", 1)[0] ?? "";

/** The answer, or undefined where what was asked for does not exist. */
export const unlessGone = <T>(asked: Promise<T>): Promise<T | undefined> =>
  asked.catch((error) => {
    if (isAws(error, "not found")) return undefined;
    throw error;
  });
