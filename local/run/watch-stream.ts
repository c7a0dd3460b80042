import * as v from "valibot";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { KubernetesError, statusIn } from "../../lambda/kubernetes/error.ts";
import {
  type ClusterLogin,
  KubernetesTransport,
  limitedText,
  longestAnswer,
  TooLongError,
  whileNotAborted,
} from "../../lambda/kubernetes/transport.ts";

const event = v.pipe(v.string(), v.parseJson(), v.object({ type: v.string(), object: v.unknown() }));
/** One line of a watch. */
export type WatchEvent = Readonly<v.InferOutput<typeof event>>;

const reason = v.fallback(v.string(), "no reason was given");
const failure = v.object({ code: v.fallback(v.number(), 500), message: reason });

const lasts = minutes(5);
/** A bookmark comes once a minute: a stream that is silent for longer is broken, or shows nothing any more. */
const longestSilence = seconds(90);

export type StreamOptions = Readonly<{
  login: ClusterLogin;
  path: string;
  query: URLSearchParams;
  signal: AbortSignal;
  /** The stream has begun; `date` is the server's time as it writes it. */
  onOpen: (date: string | undefined) => void;
}>;

/** The events of a collection from a version on, until the API server ends the stream, as it does now and then. */
export async function* streamOf(options: StreamOptions): AsyncGenerator<WatchEvent, void, undefined> {
  const { login, path, query, signal, onOpen } = options;
  const left = new AbortController();
  const ended = AbortSignal.any([signal, left.signal]);
  query.set("watch", "1");
  query.set("allowWatchBookmarks", "true");
  query.set("timeoutSeconds", String(lasts / seconds(1)));
  let transport: KubernetesTransport | undefined;
  try {
    const access = await whileNotAborted(login.access(), ended);
    transport = new KubernetesTransport(access);
    const headers = { ...access.headers, accept: "application/json" };
    const response = await transport.stream(
      { method: "GET", path: `${path}?${query}`, headers },
      { idle: longestSilence, signal: ended },
    );
    const { statusCode = 0 } = response;
    if (statusCode !== 200) {
      throw new KubernetesError(`WATCH ${path}`, statusCode, statusIn(await limitedText(response), access));
    }
    onOpen(response.headers.date);
    for await (const line of linesOf(response)) yield readEvent(line);
  } finally {
    left.abort();
    transport?.close();
  }
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of body) {
    const lines = decoder.decode(piece, { stream: true }).split("\n");
    lines[0] = rest + lines[0];
    rest = lines.pop() ?? "";
    if (rest.length > longestAnswer) throw new TooLongError("a line of the watch has no end");
    yield* lines.filter((line) => line !== "");
  }
}

function readEvent(line: string): WatchEvent {
  const { success, output } = v.safeParse(event, line);
  if (!success) throw new TryAgainError("a line of the watch is no event");
  if (output.type !== "ERROR") return output;
  const { code, message } = v.parse(failure, Object(output.object));
  throw new KubernetesError("WATCH", code, { message });
}
