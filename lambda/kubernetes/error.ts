import type { ClusterAccess } from "./cluster-login.ts";

/** Longer than any sentence of an API server; what a proxy says is of any length. */
const mostSaid = 1_000;

/** The API server's refusal; what it means depends on what was asked. */
export class KubernetesError extends Error {
  readonly status: number;

  constructor(status: number, call: string, said: string) {
    super(`${call} was answered with ${status}: ${cut(said, mostSaid)}`);
    this.name = "KubernetesError";
    this.status = status;
  }
}

/** Whether the API server answered with one of these statuses. */
export const isStatus = (error: unknown, ...statuses: readonly number[]): error is KubernetesError =>
  error instanceof KubernetesError && statuses.includes(error.status);

/** What a body says to people: the message of a Status, or the beginning of whatever a proxy says in its place. */
export function saidIn(body: string, access: ClusterAccess): string {
  return withoutSecrets(messageIn(body) ?? cut(body, 300), access);
}

function messageIn(body: string): string | undefined {
  try {
    const said: unknown = JSON.parse(body);
    const isStatus = typeof said === "object" && said !== null && "message" in said;
    return isStatus && typeof said.message === "string" ? said.message : undefined;
  } catch {
    return undefined;
  }
}

/** Some proxies show a request to whoever sent it, and what is said goes to the log. */
function withoutSecrets(text: string, { headers }: ClusterAccess): string {
  const [, secret = ""] = (headers.authorization ?? "").split(" ");
  return secret === "" ? text : text.replaceAll(secret, "(our login)");
}

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text);
