import { Agent } from "undici";
import type { ClusterLogin } from "../lambda/adapters/cluster-login.ts";
import { KubernetesError } from "../lambda/adapters/kubernetes-error.ts";
import { asRecord } from "../lambda/adapters/node-objects.ts";
import { minutes, seconds } from "../lambda/core/duration.ts";

/** One line of a watch. */
export type WatchEvent = Readonly<{ type: string; object: unknown }>;

/** The server has forgotten the version we wanted to go on from. */
export class WatchGoneError extends Error {}

const lasts = minutes(5);

/** What the API server tells of a collection from a version on, until it ends the stream, as it does now and then. */
export async function* streamOf(
  login: ClusterLogin,
  path: string,
  query: URLSearchParams,
  signal: AbortSignal,
): AsyncGenerator<WatchEvent, void, undefined> {
  const { server, tls, headers } = await login.access();
  const url = new URL(server);
  query.set("watch", "1");
  query.set("allowWatchBookmarks", "true");
  query.set("timeoutSeconds", String(lasts / seconds(1)));
  // A connection that died silently shows by a stream that outlasts its time.
  const agent = new Agent({
    bodyTimeout: lasts + minutes(1),
    headersTimeout: seconds(30),
    connect: { ...tls },
  });
  try {
    const response = await agent.request({
      origin: url.origin,
      path: `${url.pathname.replace(/\/$/, "")}${path}?${query}`,
      method: "GET",
      headers: { ...headers, accept: "application/json" },
      signal,
    });
    if (response.statusCode !== 200) {
      throw new KubernetesError(
        response.statusCode,
        `WATCH ${path}`,
        (await response.body.text()).slice(0, 300),
      );
    }
    for await (const line of linesOf(response.body)) yield readEvent(line);
  } finally {
    await agent.destroy();
  }
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of body) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines.filter((line) => line !== "");
  }
}

function readEvent(line: string): WatchEvent {
  const { type, object } = asRecord(JSON.parse(line), "a watch event");
  if (type !== "ERROR") return { type: String(type), object };
  const { code, message } = asRecord(object, "a watch's error");
  if (code === 410) throw new WatchGoneError(String(message));
  throw new KubernetesError(typeof code === "number" ? code : 500, "WATCH", String(message));
}
