import type { IncomingMessage, ServerResponse } from "node:http";
import { after, type Duration, minutes } from "../../lambda/core/duration.ts";
import type { Clock } from "../../lambda/core/ports.ts";
import { version } from "../../lambda/version.ts";
import { drawPage, spans } from "../../report/page/page.ts";
import type { TimelineEvent } from "../../report/timeline/events.ts";
import { type HttpServer, refuse, requestUrl, serveHttp } from "../http-server.ts";
import { drawFrame, formatState } from "./frame.ts";

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

/** Each is drawn a picture every second, by the process that holds the nodes. */
export const mostReaders = 20;

type View = Readonly<{ span: Duration; width?: number; offset?: number }>;
type Reader = View & Readonly<{ response: ServerResponse }>;

/** A page on loopback that shows what happens while it happens. */
export class LivePage {
  readonly #options: LivePageOptions;
  #server: HttpServer | undefined;
  readonly #readers = new Set<Reader>();
  #unfollow = () => {};
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Timeout | undefined;
  #state = "";

  private constructor(options: LivePageOptions) {
    this.#options = options;
  }

  /** Listens on a free port; 0 takes any. */
  static async start(options: LivePageOptions, port = 0): Promise<LivePage> {
    const page = new LivePage(options);
    page.#server = await serveHttp((request, response) => page.#answer(request, response), { port });
    page.#unfollow = options.events.follow(() => page.#report());
    page.#timer = setInterval(() => page.#drawForAll(), options.redrawEvery ?? 1_000);
    return page;
  }

  get url(): string {
    return `${this.#server?.url}/`;
  }

  async stop(): Promise<void> {
    this.#unfollow();
    clearInterval(this.#timer);
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
    const { tables, held } = this.#frame(view);
    const picture = (width: number) => this.#frame({ ...view, width }).svg;
    const state = this.#stateFor();
    const footer = `karpenter-node-holder ${version}. This page is served from this machine only.`;
    const present = { state, picture, tables, held };
    return drawPage({ title, about, ...present, footer, live: "/events" });
  }

  #welcome(response: ServerResponse, view: View): void {
    if (this.#readers.size >= mostReaders)
      return void refuse(response, 503, `The page is open ${mostReaders} times: close one.`);
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    const reader = { response, ...view };
    this.#readers.add(reader);
    response.once("close", () => this.#readers.delete(reader));
    send(response, "state", this.#stateFor(view.offset));
    this.#draw(reader);
  }

  #report(): void {
    const state = this.#stateFor();
    if (state !== this.#state)
      for (const { response, offset } of this.#readers) send(response, "state", this.#stateFor(offset));
    this.#state = state;
    // Events at the same time are drawn once.
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      this.#drawForAll();
    }, 100);
  }

  #stateFor(offset = 0): string {
    const { events, observes = false } = this.#options;
    return formatState(events.events, { offset, observes });
  }

  #drawForAll(): void {
    for (const reader of this.#readers) this.#draw(reader);
  }

  #draw({ response, ...view }: Reader): void {
    // A slow reader skips pictures.
    if (!response.writableNeedDrain) send(response, "picture", this.#frame(view));
  }

  #frame({ span, ...view }: View) {
    const { events, clock } = this.#options;
    const now = clock.now();
    const from = span > 0 ? after(now, -span) : undefined;
    return drawFrame(events.events, { now, ...(from && { from }), ...view });
  }
}

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
