import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  Agent as PlainAgent,
  request as plain,
} from "node:http";
import { Agent, type RequestOptions, request as secure } from "node:https";
import { pipeline, type Readable } from "node:stream";
import type { ConnectionOptions } from "node:tls";
import { urlToHttpOptions } from "node:url";
import { createGunzip } from "node:zlib";
import { type Duration, minutes, seconds } from "../core/duration.ts";
import { TryAgainError } from "../core/errors.ts";

/** The address of a cluster's API, the TLS options, and the headers that log in. */
export type ClusterAccess = Readonly<{
  server: string;
  tls: Readonly<
    Pick<ConnectionOptions, "ca" | "cert" | "key" | "passphrase" | "rejectUnauthorized" | "servername">
  >;
  headers: RequestHeaders;
  /** Proxies, under the names of the environment variables. */
  proxy?: Readonly<Record<string, string>>;
}>;

export type RequestHeaders = Readonly<Record<string, string | string[]> & { authorization?: string }>;

/** Logs in to one cluster. */
export interface ClusterLogin {
  access(): Promise<ClusterAccess>;
  /** Drops the cached login, because the cluster refused it. */
  refresh(): void;
}

/** Requests in flight. More are a little faster with a thousand nodes, but a small function needs long to connect them. */
export const inFlight = 16;

const beginsWithin: Duration = seconds(30);

export type HttpRequest = Readonly<{
  method: string;
  /** With its query; the server's own path comes before it. */
  path: string;
  headers: RequestHeaders;
  body?: string | undefined;
}>;
export type HttpResponse = Readonly<{ status: number; headers: IncomingHttpHeaders; body: string }>;

export type SendOptions = Readonly<{
  /** How long the whole response may take; with `onPiece`, the next piece of it. */
  timeout: Duration;
  /** Gets the length of each piece of the body. */
  onPiece?: ((length: number) => void) | undefined;
  /** Leaves the body of a success unread. */
  ignoreBody?: boolean | undefined;
  timer?: Timer | undefined;
}>;

/** Calls back after a time, unless the function it returns is called before. */
export type Timer = (end: () => void, duration: Duration) => () => void;

// `AbortSignal.timeout` does the same, but costs more processor time.
const wallTimer: Timer = (end, duration) => {
  const timer = setTimeout(end, duration);
  return () => clearTimeout(timer);
};

/** What the work gives, or the signal's reason as soon as it aborts; the work may go on for others. */
export const whileNotAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason));
    work.then(resolve, reject);
  });

export type TimeLimit = Readonly<{ most: Duration; late: () => Error; timer?: Timer | undefined }>;

/** What the work gives; when it takes longer, an error, and the work's signal aborts. */
export async function inTime<T>(
  work: (signal: AbortSignal) => Promise<T>,
  { most, late, timer = wallTimer }: TimeLimit,
): Promise<T> {
  const ending = new AbortController();
  const cancelTimer = timer(() => ending.abort(late()), most);
  try {
    return await whileNotAborted(work(ending.signal), ending.signal);
  } finally {
    cancelTimer();
  }
}

/** HTTP to one API server over a pool of connections that stay open. */
export class KubernetesTransport {
  readonly #agent: Agent | PlainAgent;
  readonly #options: RequestOptions;
  readonly #request: typeof secure;
  readonly #prefix: string;

  constructor({ server, tls, proxy }: Pick<ClusterAccess, "server" | "tls" | "proxy">) {
    const url = new URL(server);
    const pool = { keepAlive: true, maxSockets: inFlight, ...(proxy && { proxyEnv: proxy }) };
    const isPlain = url.protocol === "http:";
    this.#agent = isPlain ? new PlainAgent(pool) : new Agent({ ...pool, ...tls });
    this.#request = isPlain ? plain : secure;
    // An IPv6 address stands in brackets in a URL, and without them in these options.
    const { hostname, port } = urlToHttpOptions(url);
    this.#options = { agent: this.#agent as Agent, hostname, port };
    this.#prefix = url.pathname.replace(/\/$/, "");
  }

  send(request: HttpRequest, options: SendOptions): Promise<HttpResponse> {
    const { timeout, onPiece, ignoreBody, timer = wallTimer } = options;
    return new Promise((resolve, reject) => {
      const call = this.#start(request);
      const late = () => {
        reject(new Error(`no answer within ${timeout} ms`));
        call.destroy();
      };
      let cancelTimer = timer(late, timeout);
      call.once("close", () => cancelTimer()).once("error", reject);
      call.once("response", (response) => {
        const { statusCode: status = 0 } = response;
        if (onPiece)
          response.on("data", ({ length }: Buffer) => {
            cancelTimer();
            cancelTimer = timer(late, timeout);
            onPiece(length);
          });
        const most = onPiece ? longestText : longestAnswer;
        const read = ignoreBody && status < 300 ? skip(response) : limitedText(unzipped(response), most);
        read.then((text) => resolve({ status, headers: response.headers, body: text }), reject);
      });
      call.end(request.body);
    });
  }

  /** Opens an endless response; it fails when nothing arrives for `idle`, or on the signal. */
  stream(
    request: HttpRequest,
    { idle, signal }: Readonly<{ idle: Duration; signal: AbortSignal }>,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const call = this.#start(request, { signal, timeout: beginsWithin });
      let open: ClientRequest | IncomingMessage = call;
      call.once("timeout", () => open.destroy(new Error("the response has stopped")));
      call.once("response", (response) => {
        // The reader of a response does not get the error of its request.
        open = response;
        call.setTimeout(idle);
        resolve(response);
      });
      call.once("error", reject).end(request.body);
    });
  }

  /** Closes the idle connections; those in use close after their response. */
  close(): void {
    this.#agent.maxFreeSockets = 0;
    this.closeIdle();
  }

  /** Closes the connections that are idle now. */
  closeIdle(): void {
    // Not the agent's own `destroy`: that cuts off requests in flight.
    for (const socket of Object.values(this.#agent.freeSockets).flat()) socket?.destroy();
  }

  #start({ method, path, headers }: HttpRequest, more: RequestOptions = {}): ClientRequest {
    return this.#request({ ...this.#options, ...more, method, headers, path: this.#prefix + path });
  }
}

/** The connection is free again only when the body has ended. */
function skip(response: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    response.once("end", () => resolve("")).once("error", reject);
    response.resume();
  });
}

/** The body as it was before the server compressed it; a broken one is an error. */
function unzipped(response: IncomingMessage): Readable {
  if (response.headers["content-encoding"] !== "gzip") return response;
  // The reader of the result gets the error.
  return pipeline(response, createGunzip(), () => {});
}

/** Many times the largest object that etcd accepts. What is parsed takes several times as much of a function's memory. */
export const longestAnswer = 16 * 1024 * 1024;
/** Text is not parsed, and a log has no pages. */
const longestText = 64 * 1024 * 1024;

/** A body was larger than any that we expect; the same call would only read it again. */
export class TooLongError extends TryAgainError {}

/** A body as text; stops reading at the limit, because a body may be endless, or expand to many times its size. */
export function limitedText(body: Readable, most = longestAnswer): Promise<string> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let size = 0;
    body.on("data", (piece: Buffer) => {
      size += piece.length;
      if (size > most) body.destroy(new TooLongError(`the body is longer than ${most} bytes`));
      else pieces.push(piece);
    });
    body.once("end", () => resolve(Buffer.concat(pieces).toString()));
    body.once("error", reject);
  });
}

const first: Duration = 200;
const longest: Duration = seconds(10);

/** How often a failing call is tried; a call that the server throttles is retried until the deadline. */
export const mostAttempts = 8;

/** The pause after attempt 1, 2, …: twice as long each time, with jitter, so that many clients do not retry at once. */
export function pauseAfter(attempt: number, random: () => number): Duration {
  const full = Math.min(longest, first * 2 ** (attempt - 1));
  return full / 2 + (full / 2) * random();
}

/** Reads a Retry-After header, in seconds or as a date; undefined when it cannot be read. */
export function readRetryAfter(header: string | undefined, now: Date): Duration | undefined {
  if (header === undefined) return undefined;
  const wait = /^\d+$/.test(header) ? seconds(Number(header)) : Date.parse(header) - now.getTime();
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(0, wait), minutes(15));
}
