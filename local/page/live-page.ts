import type { IncomingMessage, ServerResponse } from "node:http";
import { after, type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import type { Clock } from "../../lambda/core/ports.ts";
import { version } from "../../lambda/version.ts";
import { drawPage, spans } from "../../report/page/page.ts";
import type { TimelineEvent } from "../../report/timeline/events.ts";
import { type HttpServer, refuse, requestUrl, serveHttp } from "../http-server.ts";
import { drawFrame, type Frame, formatState } from "./frame.ts";

/** Past events, and a way to subscribe to new ones; a timeline is one. */
export type Events = Readonly<{
  events: readonly TimelineEvent[];
  follow: (listener: () => void) => () => void;
}>;

export type LivePageOptions = Readonly<{
  events: Events;
  clock: Clock;
  title: string;
  about: string;
  /** No node is changed: `mode=observe`. */
  observes?: boolean;
  /** How often the picture is drawn again when nothing happens. */
  redrawEvery?: Duration;
}>;

export const mostReaders = 20;
/** The process that draws also holds the nodes: drawing takes at most this share of a core. */
const mostOfCore = 0.1;
const soon: Duration = 100;

type View = Readonly<{ span: Duration; width?: number | undefined; offset?: number | undefined }>;
type Reader = View & { readonly response: ServerResponse; state: string };

/** A page on loopback that shows what happens while it happens. */
export class LivePage {
  readonly #options: LivePageOptions;
  #server: HttpServer | undefined;
  readonly #readers = new Set<Reader>();
  #unfollow = () => {};
  #timer: NodeJS.Timeout | undefined;
  /** A picture is drawn once for all its readers. */
  readonly #drawn = new Map<string, Frame & Readonly<{ state: string }>>();
  #drawNextAt = 0;
  #mayDrawAt = 0;
  #isStale = true;

  private constructor(options: LivePageOptions) {
    this.#options = options;
  }

  /** Listens on a free port; 0 takes any. */
  static async start(options: LivePageOptions, port = 0): Promise<LivePage> {
    const page = new LivePage(options);
    page.#server = await serveHttp((request, response) => page.#answer(request, response), { port });
    page.#unfollow = options.events.follow(() => page.#onEvent());
    page.#drawForAll();
    return page;
  }

  get url(): string {
    return `${this.#server?.url}/`;
  }

  async stop(): Promise<void> {
    this.#unfollow();
    clearTimeout(this.#timer);
    await this.#server?.stop();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname, searchParams } = requestUrl(request);
    if (request.method !== "GET") refuse(response, 405, "Only GET is allowed.");
    else if (pathname === "/events") this.#welcome(response, viewOf(searchParams));
    else if (pathname === "/") this.#sendPage(response);
    else refuse(response, 404, "Not found.");
  }

  #sendPage(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" });
    response.end(this.#page());
  }

  #page(): string {
    const { title, about } = this.#options;
    const view = { span: minutes(spans[0].minutes) };
    const { tables, held, state } = this.#frame(view);
    const picture = (width: number) => this.#frame({ ...view, width }).svg;
    const footer = `karpenter-node-holder ${version}. This page is served from this machine only.`;
    const present = { state, picture, tables, held };
    return drawPage({ title, about, ...present, footer, live: "/events" });
  }

  #welcome(response: ServerResponse, view: View): void {
    if (this.#readers.size >= mostReaders)
      return void refuse(response, 503, `The page is open ${mostReaders} times: close one.`);
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    const reader = { response, state: "", ...view };
    this.#readers.add(reader);
    response.once("close", () => this.#readers.delete(reader));
    this.#drawFirst(reader);
  }

  /** A picture of its own waits for its time: readers may come and go without end. */
  #drawFirst(reader: Reader): void {
    const wait = this.#drawn.has(keyOf(reader)) ? 0 : this.#mayDrawAt - performance.now();
    if (wait <= 0) this.#drawFor(reader);
    else setTimeout(() => this.#readers.has(reader) && this.#drawFirst(reader), wait);
  }

  #onEvent(): void {
    this.#isStale = true;
    // Events at the same time are drawn once.
    const wait = Math.max(soon, this.#mayDrawAt - performance.now());
    if (performance.now() + wait < this.#drawNextAt) this.#drawIn(wait);
  }

  #drawIn(time: Duration): void {
    clearTimeout(this.#timer);
    this.#drawNextAt = performance.now() + time;
    this.#timer = setTimeout(() => this.#drawForAll(), time);
  }

  #drawForAll(): void {
    this.#isStale = true;
    for (const reader of this.#readers) this.#drawFor(reader);
    const { redrawEvery = seconds(1) } = this.#options;
    this.#drawIn(Math.max(redrawEvery, this.#mayDrawAt - performance.now()));
  }

  #drawFor(reader: Reader): void {
    const { response, state: before, span, width, offset } = reader;
    // A slow reader skips pictures.
    if (response.writableNeedDrain) return;
    const { state, ...frame } = this.#frame({ span, width, offset });
    if (state !== before) send(response, "state", state);
    reader.state = state;
    send(response, "picture", frame);
  }

  #frame(view: View) {
    const begun = performance.now();
    const usedBefore = process.cpuUsage();
    if (this.#isStale && begun >= this.#mayDrawAt) {
      this.#drawn.clear();
      this.#isStale = false;
    }
    const key = keyOf(view);
    const drawn = this.#drawn.get(key) ?? this.#draw(view);
    this.#drawn.set(key, drawn);
    const { user, system } = process.cpuUsage(usedBefore);
    this.#mayDrawAt = Math.max(begun, this.#mayDrawAt) + (user + system) / 1_000 / mostOfCore;
    return drawn;
  }

  #draw({ span, width, offset = 0 }: View) {
    const { events: source, clock, observes = false } = this.#options;
    const { events } = source;
    const now = clock.now();
    const from = span > 0 ? after(now, -span) : undefined;
    const state = formatState(events, { offset, observes });
    return { state, ...drawFrame(events, { now, offset, ...(from && { from }), ...(width && { width }) }) };
  }
}

const keyOf = ({ span, width, offset }: View): string => JSON.stringify([span, width, offset]);

function send(response: ServerResponse, event: string, content: unknown): void {
  response.write(`event: ${event}\ndata: ${JSON.stringify(content)}\n\n`);
}

/** The largest offset of a time zone, in minutes. */
const farthest = 14 * 60;

/** What a reader asks for: the width is its window's, the offset its time zone's, both within limits. */
function viewOf(wanted: URLSearchParams): View {
  const span = spans.find(({ minutes: count }) => String(count) === wanted.get("span")) ?? spans[0];
  const width = Number(wanted.get("width"));
  const isUsable = Number.isFinite(width) && width > 0;
  const offset = Number(wanted.get("offset"));
  return {
    span: minutes(span.minutes),
    ...(isUsable && { width: Math.min(2_000, Math.max(300, width)) }),
    ...(Number.isInteger(offset) && Math.abs(offset) <= farthest && { offset }),
  };
}
