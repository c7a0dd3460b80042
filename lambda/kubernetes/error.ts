import * as v from "valibot";
import { BrokenSetupError, messageOf, TryAgainError } from "../core/errors.ts";
import type { ClusterAccess } from "./transport.ts";

/** Longer than any message of an API server; a proxy's answer may have any length. */
const longestMessage = 1_000;

/** The fields of a `Status` object; of a proxy's answer, only a message. */
export type StatusAnswer = v.InferOutput<typeof statusSchema>;

const statusSchema = v.object({
  message: v.string(),
  reason: v.fallback(v.string(), ""),
  details: v.fallback(
    v.object({ name: v.fallback(v.string(), ""), causes: v.fallback(v.array(v.unknown()), []) }),
    { name: "", causes: [] },
  ),
});

/** The API server answered with an error status. What that means depends on the call; a retry may succeed. */
export class KubernetesError extends TryAgainError {
  readonly status: number;
  readonly details: StatusAnswer["details"];

  constructor(call: string, status: number, { message, details }: Partial<StatusAnswer>) {
    super(`${call} was answered with ${status}: ${cut(message ?? "", longestMessage)}`);
    this.name = "KubernetesError";
    this.status = status;
    this.details = details ?? { name: "", causes: [] };
  }
}

/** What an answer means for every call: `retry` is transient, and of `caller` the caller decides. */
export function meaningOf(status: number, method: string): "retry" | "throttled" | "login" | "caller" {
  if (status === 429) return "throttled";
  if (status === 401) return "login";
  // A patch names its own conditions, so a conflict means no more than that another client wrote too.
  return status >= 500 || (status === 409 && method === "PATCH") ? "retry" : "caller";
}

/** The error for the caller, with the remedy when the set-up must change. */
export function explained(error: KubernetesError | BrokenSetupError): Error {
  const remedy = error instanceof KubernetesError ? remedies[error.status] : undefined;
  return remedy ? new BrokenSetupError(`${remedy} (${error.message})`, { cause: error }) : error;
}

const remedies: Readonly<Record<number, string>> = {
  401: "The cluster refused the login (401): check that the cluster has an access entry for this role",
  403:
    "The cluster does not allow this (403): check ClusterRole, binding and the access entry's group, " +
    "or apply what the command `manifest` prints",
};

const otherName =
  "The certificate of the API server is for another name: check the address of the server, or set tls-server-name";
const untrusted =
  "The certificate of the API server is not trusted: check the certificate authority of the login " +
  "(certificate-authority-data), and whether a proxy is in between";
const outdated =
  "The certificate of the API server is not valid now: check the clock here, and the certificate";
const noTls = "The API server does not speak TLS at this address: check its port, and https or http";

/** Errors of a connection that stay until the set-up is repaired, by their code. Any other is transient. */
const lasting: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: otherName,
  HOSTNAME_MISMATCH: otherName,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
  CERT_UNTRUSTED: untrusted,
  INVALID_CA: untrusted,
  CERT_HAS_EXPIRED: outdated,
  CERT_NOT_YET_VALID: outdated,
  EPROTO: noTls,
};

/** The error of a connection that no retry repairs, with its remedy; undefined where it may pass. */
export function lastingError(call: string, error: unknown): BrokenSetupError | undefined {
  const remedy = lasting[String(Object(error).code)];
  if (!remedy) return undefined;
  const [reason] = messageOf(error).split(/[;\n]/);
  return new BrokenSetupError(`${remedy} (${call}: ${reason})`, { cause: error });
}

/** Whether the API server answered with one of these statuses. */
export const isStatus = (error: unknown, ...statuses: readonly number[]): error is Error =>
  statuses.includes(answerIn(error)?.status ?? 0);

/**
 * A change was refused by a policy or a webhook, which without a status of its own answers 400. A policy names a cause,
 * which a failed `test` of a patch does not.
 */
export function isRefusedByAdmission(error: unknown): boolean {
  const { status = 0, details } = answerIn(error) ?? {};
  return status === 400 || status === 403 || (status === 422 && details?.causes.length !== 0);
}

/** A cluster that does not know a kind of object answers 404 without naming the object. */
export const isUnknownKind = (error: unknown): boolean =>
  isStatus(error, 404) && answerIn(error)?.details.name === "";

function answerIn(error: unknown): KubernetesError | undefined {
  if (error instanceof KubernetesError) return error;
  return error instanceof BrokenSetupError ? answerIn(error.cause) : undefined;
}

/** Reads the body of an answer: a Status, or the beginning of what a proxy sent in its place. */
export function statusIn(body: string, access: ClusterAccess): StatusAnswer {
  const { success, output } = v.safeParse(statusSchema, parsed(body));
  const status = success ? output : { message: cut(body, 300), reason: "", details: noDetails };
  return { ...status, message: withoutSecrets(status.message, access) };
}

const noDetails = { name: "", causes: [] };

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** Some proxies send a request back, and messages go to the log. */
function withoutSecrets(text: string, { headers }: ClusterAccess): string {
  const [, secret = ""] = (headers.authorization ?? "").split(" ");
  return secret === "" ? text : text.replaceAll(secret, "(our login)");
}

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text);
