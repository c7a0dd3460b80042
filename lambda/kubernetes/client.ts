import { STATUS_CODES } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { type Duration, seconds } from "../core/duration.ts";
import { TryAgainError } from "../core/errors.ts";
import type { CallContext, Clock, Metrics } from "../core/ports.ts";
import { mostAttempts, pauseAfter, readRetryAfter } from "./backoff.ts";
import type { ClusterAccess, ClusterLogin } from "./cluster-login.ts";
import { explained, isStatus, KubernetesError, meaningOf, statusIn } from "./error.ts";
import { TooLongError } from "./limited-text.ts";
import { type HttpRequest, type HttpResponse, KubernetesTransport, type Timer } from "./transport.ts";

/** One request, as the API knows it. */
export type KubernetesCall = Readonly<{
  method: "GET" | "PATCH" | "POST" | "PUT" | "DELETE";
  path: string;
  query?: Readonly<Record<string, string>>;
  accept?: string;
  contentType?: string;
  body?: unknown;
  /** The answer's body is of no use to the caller, and reading it costs. */
  ignoresAnswer?: boolean;
}>;

/** With less time left nothing is begun that the deadline would cut off before its answer. */
const shortest: Duration = 300;

/** What the client needs beside a login. */
export type KubernetesClientOptions = Readonly<{
  login: ClusterLogin;
  clock: Clock;
  metrics: Metrics;
  /** The longest one attempt may take. */
  requestTimeout?: Duration;
  sleep?: (duration: Duration) => Promise<void>;
  timer?: Timer;
  random?: () => number;
}>;

/** Anything that carries a call to the API server and answers with the body. */
export interface KubernetesCaller {
  call(call: KubernetesCall, context: Pick<CallContext, "deadline">): Promise<unknown>;
}

/** The deadline came before the answer; nothing else was wrong. */
export class OutOfTimeError extends TryAgainError {}

type Answer =
  | Readonly<{ kind: "done"; body: unknown }>
  | Readonly<{ kind: "refused"; error: KubernetesError; pause?: undefined }>
  | Readonly<{ kind: "logged out"; error: KubernetesError; access: ClusterAccess }>
  | Readonly<{ kind: "throttled"; error: KubernetesError; pause?: Duration | undefined }>
  | Readonly<{ kind: "unlucky"; error: unknown; pause?: Duration | undefined }>;

type Connection = Readonly<{ access: ClusterAccess; transport: KubernetesTransport }>;

const wait = (duration: Duration) => new Promise<void>((resolve) => setTimeout(resolve, duration));

/** Asks a cluster's API and does not take a passing trouble for an answer. */
export class KubernetesClient implements KubernetesCaller {
  readonly #options: KubernetesClientOptions;
  #connection: Connection | undefined;
  #refused: ClusterAccess | undefined;

  constructor(options: KubernetesClientOptions) {
    this.#options = options;
  }

  /** Retries what may pass until it is answered, hopeless, or the deadline has come. */
  async call(call: KubernetesCall, { deadline }: Pick<CallContext, "deadline">): Promise<unknown> {
    const { metrics, random = Math.random } = this.#options;
    let refreshed = false;
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#attempt(call, deadline);
      if (answer.kind === "done") return answer.body;
      if (answer.kind === "refused") {
        if (!isStatus(answer.error, 403) || (await this.#isReady(deadline))) throw explained(answer.error);
        if (attempt >= mostAttempts) throw refusedByAll(call, answer.error);
      }
      if (answer.kind === "logged out") {
        if (refreshed) throw explained(answer.error);
        refreshed = true;
        this.#refreshLogin(answer.access);
        continue;
      }
      if (answer.kind === "throttled") metrics.add("ApiThrottled", 1);
      if (answer.kind === "unlucky" && attempt >= mostAttempts) {
        // Nobody was there: a cluster made anew under its old name is somewhere else.
        if (!(answer.error instanceof KubernetesError)) this.#options.login.refresh();
        throw hopeless(call, attempt, answer.error);
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
    const { clock, requestTimeout = seconds(10), timer } = this.#options;
    const left = deadline.getTime() - clock.now().getTime();
    if (left < shortest) throw new OutOfTimeError(`the time was over before ${name(call)}`);
    const { access, transport } = await this.#connect();
    try {
      const timeout = Math.min(left, requestTimeout);
      const ignoreBody = call.ignoresAnswer === true;
      const response = await transport.send(requestOf(call, access), { timeout, ignoreBody, timer });
      return this.#judge(call, access, response);
    } catch (error) {
      if (error instanceof TooLongError)
        throw new TryAgainError(`${name(call)}: ${error.message}`, { cause: error });
      // While a function is frozen its connections die unnoticed, all of them: one reports the others.
      transport.closeIdle();
      return { kind: "unlucky", error };
    }
  }

  #judge(call: KubernetesCall, access: ClusterAccess, { status, headers, body }: HttpResponse): Answer {
    if (status >= 200 && status < 300) {
      return call.ignoresAnswer ? { kind: "done", body: undefined } : read(body, access);
    }
    const answer = statusIn(body, access);
    const message = answer.message || redirected(headers.location) || STATUS_CODES[status] || "";
    const error = new KubernetesError(name(call), status, { ...answer, message });
    const pause = readRetryAfter(headers["retry-after"], this.#options.clock.now());
    const meaning = meaningOf(status, call.method);
    if (meaning === "throttled") return { kind: "throttled", error, pause };
    if (meaning === "login") return { kind: "logged out", error, access };
    if (meaning === "retry") return { kind: "unlucky", error, pause };
    return { kind: "refused", error };
  }

  /** An API server that has not read yet who may do what refuses everybody, and this too, which else everybody may ask. */
  async #isReady(deadline: Date): Promise<boolean> {
    const answer = await this.#attempt({ method: "GET", path: "/readyz", ignoresAnswer: true }, deadline);
    return answer.kind === "done";
  }

  async #pause(pause: Duration, call: KubernetesCall, deadline: Date, cause: unknown): Promise<void> {
    const { clock, sleep = wait } = this.#options;
    if (clock.now().getTime() + pause >= deadline.getTime()) {
      const why = `the time is too short to try ${name(call)} again: ${reasonOf(cause)}`;
      throw new OutOfTimeError(why, { cause });
    }
    await sleep(pause);
  }

  // Many calls in flight are refused together: one of them renews the login for all.
  #refreshLogin(refused: ClusterAccess): void {
    if (this.#refused === refused) return;
    this.#refused = refused;
    this.#options.login.refresh();
  }

  async #connect(): Promise<Connection> {
    const access = await this.#options.login.access();
    const present = this.#connection;
    if (present?.access === access) return present;
    // Another token alone needs no other connections.
    if (present?.access.server === access.server && isDeepStrictEqual(present.access.tls, access.tls)) {
      this.#connection = { access, transport: present.transport };
      return this.#connection;
    }
    const connection = { access, transport: new KubernetesTransport(access) };
    this.#connection = connection;
    // Requests under way end on the old connections.
    present?.transport.close();
    return connection;
  }
}

function requestOf(call: KubernetesCall, { headers }: ClusterAccess): HttpRequest {
  const { method, path, query, accept = "application/json", contentType = "application/json", body } = call;
  return {
    method,
    path: query ? `${path}?${new URLSearchParams(query)}` : path,
    headers: { ...headers, accept, ...(body !== undefined && { "content-type": contentType }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  };
}

const name = (call: KubernetesCall): string => `${call.method} ${call.path}`;

/** The parser's own complaint would quote what it met, whatever that is. */
function read(body: string, access: ClusterAccess): Answer {
  try {
    return { kind: "done", body: JSON.parse(body) };
  } catch {
    const said = statusIn(body, access).message;
    return { kind: "unlucky", error: new Error(`the answer is no JSON, or not all of it: ${said}`) };
  }
}

/** We do not follow: where it leads nobody should see our login. */
const redirected = (location: string | undefined): string =>
  location && URL.canParse(location) ? `go to ${new URL(location).origin}` : "";

/** Some clusters hide from everybody whether they are ready: there it may be a refusal like any other. */
const refusedByAll = (call: KubernetesCall, cause: KubernetesError) =>
  new TryAgainError(
    `${name(call)} was refused (403) by an API server that does not say that it is ready: unless it is just ` +
      "starting, check ClusterRole, binding and the access entry's group",
    { cause },
  );

const hopeless = (call: KubernetesCall, attempts: number, cause: unknown) =>
  new TryAgainError(`${name(call)} failed ${attempts} times: ${reasonOf(cause)}`, { cause });

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
