import { STATUS_CODES } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { type Duration, seconds } from "../core/duration.ts";
import { type BrokenSetupError, messageOf, TryAgainError } from "../core/errors.ts";
import type { CallContext, Clock, Metrics } from "../core/ports.ts";
import { explained, isStatus, KubernetesError, lastingError, meaningOf, statusIn } from "./error.ts";
import {
  type ClusterAccess,
  type ClusterLogin,
  type HttpRequest,
  type HttpResponse,
  inTime,
  KubernetesTransport,
  mostAttempts,
  pauseAfter,
  readRetryAfter,
  type Timer,
  TooLongError,
} from "./transport.ts";

/** One request to the Kubernetes API. */
export type KubernetesCall = Readonly<{
  method: "GET" | "PATCH" | "POST" | "PUT" | "DELETE";
  path: string;
  query?: Readonly<Record<string, string>>;
  accept?: string;
  contentType?: string;
  body?: unknown;
  /** The caller does not need the answer's body, and reading it takes time. */
  ignoresAnswer?: boolean;
  /** A person waits, and asks again: a transient error is the answer. */
  isTriedOnce?: boolean;
  /** The answer is text, like a log, and not JSON; it may take long, and this gets the length of each piece. */
  onText?: (length: number) => void;
}>;

/** With less time left no request starts, because its answer would come after the deadline. */
const shortest: Duration = 300;

/** The timeout of one attempt; of text, for its next piece. */
const longestAttempt: Duration = seconds(10);

/** The client's login and settings. */
export type KubernetesClientOptions = Readonly<{
  login: ClusterLogin;
  clock: Clock;
  metrics: Metrics;
  sleep?: (duration: Duration) => Promise<void>;
  timer?: Timer;
  random?: () => number;
}>;

/** Sends a call to the API server and returns the answer's body. */
export interface KubernetesCaller {
  call(call: KubernetesCall, context: Pick<CallContext, "deadline">): Promise<unknown>;
}

/** The deadline passed before the answer; there was no other error. */
export class OutOfTimeError extends TryAgainError {}

type Answer =
  | Readonly<{ kind: "done"; body: unknown }>
  | Readonly<{ kind: "refused"; error: KubernetesError; pause?: undefined }>
  | Readonly<{ kind: "logged out"; error: KubernetesError | BrokenSetupError; access: ClusterAccess }>
  | Readonly<{ kind: "throttled"; error: KubernetesError; pause?: Duration | undefined }>
  | Readonly<{ kind: "transient"; error: unknown; pause?: Duration | undefined }>;

type Connection = Readonly<{ access: ClusterAccess; transport: KubernetesTransport }>;

/** Calls a cluster's API and retries transient errors. */
export class KubernetesClient implements KubernetesCaller {
  readonly #options: KubernetesClientOptions;
  #connection: Connection | undefined;
  #refused: ClusterAccess | undefined;

  constructor(options: KubernetesClientOptions) {
    this.#options = options;
  }

  /** Retries transient errors until there is an answer, too many attempts, or no time. */
  async call(call: KubernetesCall, { deadline }: Pick<CallContext, "deadline">): Promise<unknown> {
    const { metrics, random = Math.random } = this.#options;
    const most = call.isTriedOnce ? 1 : mostAttempts;
    let refreshed = false;
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#attempt(call, deadline);
      if (answer.kind === "done") return answer.body;
      if (answer.kind === "refused") {
        if (!isStatus(answer.error, 403) || (await this.#isReady(deadline))) throw explained(answer.error);
        if (attempt >= most) throw refusedByAll(call, answer.error);
      }
      if (answer.kind === "logged out") {
        if (refreshed) throw explained(answer.error);
        refreshed = true;
        this.#refreshLogin(answer.access);
        continue;
      }
      if (answer.kind === "throttled") metrics.add("ApiThrottled", 1);
      if (answer.kind === "transient" && attempt >= most) {
        // No server answered: a cluster that was created again under its old name has another address.
        if (!(answer.error instanceof KubernetesError)) this.#options.login.refresh();
        throw failedTooOften(call, attempt, answer.error);
      }
      const pause = (answer.pause ?? 0) + pauseAfter(attempt, random);
      await this.#pause(pause, call, deadline, answer.error);
    }
  }

  /** Closes the connections; a later call opens new ones. */
  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.transport.close();
  }

  async #attempt(call: KubernetesCall, deadline: Date): Promise<Answer> {
    const { timer } = this.#options;
    const { access, transport } = await this.#connect(call, deadline);
    const timeout = Math.min(this.#timeLeft(call, deadline), longestAttempt);
    try {
      const { ignoresAnswer: ignoreBody, onText: onPiece } = call;
      const response = await transport.send(requestOf(call, access), { timeout, onPiece, ignoreBody, timer });
      return this.#classify(call, access, response);
    } catch (error) {
      if (error instanceof TooLongError)
        throw new TooLongError(`${name(call)}: ${error.message}`, { cause: error });
      // While a function is frozen all its connections break unnoticed: after one error, close the others.
      transport.closeIdle();
      const lasting = lastingError(name(call), error);
      // A cluster that was created again under its old name has another certificate.
      return lasting ? { kind: "logged out", error: lasting, access } : { kind: "transient", error };
    }
  }

  #timeLeft(call: KubernetesCall, deadline: Date): Duration {
    const left = deadline.getTime() - this.#options.clock.now().getTime();
    if (left >= shortest) return left;
    throw new OutOfTimeError(`the deadline passed before ${name(call)}`);
  }

  #classify(call: KubernetesCall, access: ClusterAccess, { status, headers, body }: HttpResponse): Answer {
    if (status >= 200 && status < 300) {
      if (call.ignoresAnswer) return { kind: "done", body: undefined };
      return call.onText ? { kind: "done", body } : read(body, access);
    }
    const answer = statusIn(body, access);
    const message = answer.message || redirected(headers.location) || STATUS_CODES[status] || "";
    const error = new KubernetesError(name(call), status, { ...answer, message });
    const pause = readRetryAfter(headers["retry-after"], this.#options.clock.now());
    const meaning = meaningOf(status, call.method);
    if (meaning === "throttled") return { kind: "throttled", error, pause };
    if (meaning === "login") return { kind: "logged out", error, access };
    if (meaning === "retry") return { kind: "transient", error, pause };
    return { kind: "refused", error };
  }

  /** A starting API server answers 403 to everyone, even on /readyz. */
  async #isReady(deadline: Date): Promise<boolean> {
    const answer = await this.#attempt({ method: "GET", path: "/readyz", ignoresAnswer: true }, deadline);
    return answer.kind === "done";
  }

  async #pause(pause: Duration, call: KubernetesCall, deadline: Date, cause: unknown): Promise<void> {
    const { clock, sleep = wait } = this.#options;
    if (clock.now().getTime() + pause >= deadline.getTime()) {
      const why = `the time is too short to try ${name(call)} again: ${messageOf(cause)}`;
      throw new OutOfTimeError(why, { cause });
    }
    await sleep(pause);
  }

  // Many open calls are refused together: the first one renews the login for all.
  #refreshLogin(refused: ClusterAccess): void {
    if (this.#refused === refused) return;
    this.#refused = refused;
    this.#options.login.refresh();
  }

  async #connect(call: KubernetesCall, deadline: Date): Promise<Connection> {
    const access = await this.#logIn(call, deadline);
    const present = this.#connection;
    // A new token alone needs no new connections.
    if (present?.access.server === access.server && isDeepStrictEqual(present.access.tls, access.tls)) {
      this.#connection = { access, transport: present.transport };
      return this.#connection;
    }
    const connection = { access, transport: new KubernetesTransport(access) };
    this.#connection = connection;
    // Running requests end on the old connections.
    present?.transport.close();
    return connection;
  }

  /** Other calls may go on waiting for the same login. */
  #logIn(call: KubernetesCall, deadline: Date): Promise<ClusterAccess> {
    const { login, timer } = this.#options;
    const late = () => new OutOfTimeError(`there was no login to the cluster in time for ${name(call)}`);
    return inTime(() => login.access(), { most: this.#timeLeft(call, deadline), late, timer });
  }
}

function requestOf(call: KubernetesCall, { headers }: ClusterAccess): HttpRequest {
  const { method, path, query, accept = "application/json", contentType = "application/json", body } = call;
  return {
    method,
    path: query ? `${path}?${new URLSearchParams(query)}` : path,
    headers: {
      ...headers,
      accept,
      // Lists of pods shrink to a twentieth; the API server leaves short answers as they are.
      ...(method === "GET" && { "accept-encoding": "gzip" }),
      ...(body !== undefined && { "content-type": contentType }),
    },
    body: JSON.stringify(body),
  };
}

const name = (call: KubernetesCall): string => `${call.method} ${call.path}`;

/** Not the parser's message, because it quotes the input. */
function read(body: string, access: ClusterAccess): Answer {
  try {
    return { kind: "done", body: JSON.parse(body) };
  } catch {
    const message = statusIn(body, access).message;
    return { kind: "transient", error: new Error(`the answer is not complete JSON: ${message}`) };
  }
}

/** Redirects are not followed: another server must not get our login. */
const redirected = (location: string | undefined): string =>
  location && URL.canParse(location) ? `go to ${new URL(location).origin}` : "";

/** Some clusters never show whether they are ready: there the 403 may be an ordinary refusal. */
const refusedByAll = (call: KubernetesCall, cause: KubernetesError) =>
  new TryAgainError(
    `${name(call)} was refused (403) by an API server that does not report itself ready: unless it is just ` +
      "starting, check ClusterRole, binding and the access entry's group",
    { cause },
  );

const failedTooOften = (call: KubernetesCall, attempts: number, cause: unknown) =>
  new TryAgainError(`${name(call)} failed ${attempts} times: ${messageOf(cause)}`, { cause });
