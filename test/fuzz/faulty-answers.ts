import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { type HttpServer, serveHttp } from "../../local/http-server.ts";
import fc from "../support/fast-check.ts";

/** What is changed in one correct answer. */
export type AnswerChange =
  | Readonly<{ do: "pass" | "reset" | "close early" | "garbage chunks" | "circle" | "forget" }>
  | Readonly<{ do: "cut"; keep: number }>
  | Readonly<{ do: "say"; status: number; body: string }>
  | Readonly<{ do: "echo"; status: number }>
  | Readonly<{ do: "redirect"; status: number }>
  | Readonly<{ do: "throttle"; retryAfter: string }>
  | Readonly<{ do: "swap"; which: number; value: unknown }>;

const circle = "round-and-round";
const elsewhere = "/elsewhere";
const pages = [
  "",
  "null",
  "[]",
  "{}",
  '"nodes"',
  "<html><body>Sign in</body></html>",
  '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"internal error","code":500}',
  '{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"columnDefinitions":[],"rows":[]}',
  '{"kind":"Status","message":{"toString":1}}',
  `{"message":"${"long ".repeat(20_000)}"}`,
  `${"[".repeat(50_000)}`,
  `{"metadata":{"name":"a","labels":{"__proto__":"x"}},"items":{"length":3}}`,
];

/** Answers that no API server gives, but proxies, faults and attackers might. */
export const changes: fc.Arbitrary<AnswerChange> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<AnswerChange>({ do: "pass" }) },
  fc.constantFrom<AnswerChange>(
    { do: "reset" },
    { do: "close early" },
    { do: "garbage chunks" },
    { do: "circle" },
    { do: "forget" },
  ),
  fc.record({ do: fc.constant("cut" as const), keep: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({
    do: fc.constant("say" as const),
    status: fc.constantFrom(200, 200, 200, 204, 400, 403, 404, 409, 410, 422, 500, 502, 599),
    body: fc.constantFrom(...pages),
  }),
  fc.record({ do: fc.constant("echo" as const), status: fc.constantFrom(200, 400, 401, 403, 500) }),
  fc.record({ do: fc.constant("redirect" as const), status: fc.constantFrom(301, 302, 303, 307, 308) }),
  fc.record({
    do: fc.constant("throttle" as const),
    retryAfter: fc.constantFrom("0", "", "soon", "-1", "Thu, 01 Jan 1970 00:00:00 GMT"),
  }),
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("swap" as const),
      which: fc.nat(),
      value: fc.constantFrom<unknown>(7, true, [], {}, { toString: 1 }, ["a"], -1e300),
    }),
  },
);

/** A proxy that changes a server's answers by a script, which it repeats. */
export class ChangingProxy {
  /** The headers of requests that followed a redirect. */
  readonly redirected: IncomingMessage["headers"][] = [];
  readonly #target: string;
  #server: HttpServer | undefined;
  #script: readonly AnswerChange[] = [];
  #count = 0;

  private constructor(target: string) {
    this.#target = target;
  }

  static async start(target: string): Promise<ChangingProxy> {
    const proxy = new ChangingProxy(target);
    proxy.#server = await serveHttp((request, response) => {
      proxy.#serve(request, response).catch(() => request.socket.destroy());
    });
    return proxy;
  }

  get url(): string {
    return this.#server?.url ?? "";
  }

  begin(script: readonly AnswerChange[]): void {
    this.#script = script;
    this.#count = 0;
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url = "/" } = request;
    if (url.startsWith(elsewhere)) {
      this.redirected.push(request.headers);
      return void response.end("{}");
    }
    const change = this.#script[this.#count++ % this.#script.length] ?? { do: "pass" };
    const sent = await buffer(request);
    const headers = Object.entries(request.headers).filter(
      ([name]) => !/^(host|connection|content-length|transfer-encoding|keep-alive)$/.test(name),
    );
    // A circular token leads to the first page again.
    const asked = url.replace(`continue=${circle}`, "");
    const answer = await fetch(`${this.#target}${asked}`, {
      method,
      headers: headers.map(([name, value]): [string, string] => [name, String(value)]),
      body: sent.length > 0 ? sent : null,
    });
    const correct = await answer.text();
    if (change.do === "reset") return void request.socket.resetAndDestroy();
    if (change.do === "garbage chunks")
      return void request.socket.end(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nnonsense\r\n",
      );
    if (change.do === "close early") {
      response.writeHead(answer.status, { "content-length": String(correct.length + 10) });
      response.write(correct.slice(0, correct.length / 2));
      return void response.socket?.end();
    }
    const { status = answer.status, body = correct, ...added } = this.#changed(change, request, correct);
    response.writeHead(status, { "content-type": "application/json", ...added.headers });
    response.end(status === 204 ? undefined : body);
  }

  #changed(change: AnswerChange, { url = "/", headers }: IncomingMessage, correct: string): Changed {
    switch (change.do) {
      case "cut":
        return { body: correct.slice(0, Math.floor(correct.length * change.keep * 0.999)) };
      case "say":
        return change;
      case "echo":
        return { status: change.status, body: `request was ${JSON.stringify(headers)}` };
      case "redirect":
        return { status: change.status, body: "", headers: { location: `${this.url}${elsewhere}${url}` } };
      case "throttle":
        return { status: 429, body: "{}", headers: { "retry-after": change.retryAfter } };
      case "swap":
        return { body: swapped(correct, change.which, change.value) };
      case "circle":
        return { body: withContinue(correct, circle) };
      case "forget":
        return /[?&]continue=/.test(url) ? { status: 410, body: "{}" } : {};
      default:
        return {};
    }
  }
}

type Changed = Readonly<{ status?: number; body?: string; headers?: Record<string, string> }>;

/** JSON with one value, at any place, replaced by one of another type. */
export function swapped(text: string, which: number, value: unknown): string {
  const root: unknown = JSON.parse(text);
  const places: (() => void)[] = [];
  const visit = (at: unknown) => {
    if (typeof at !== "object" || at === null) return;
    for (const [key, old] of Object.entries(at)) {
      // An object for an object, or a list for a list, is not another type.
      const isOther = typeof old !== typeof value || Array.isArray(old) !== Array.isArray(value);
      if (isOther) places.push(() => Reflect.set(at, key, value));
      visit(old);
    }
  };
  visit(root);
  places[which % places.length]?.();
  return JSON.stringify(root);
}

function withContinue(text: string, token: string): string {
  const list: unknown = JSON.parse(text);
  if (typeof list !== "object" || list === null || !("items" in list)) return text;
  return JSON.stringify({ ...list, metadata: { ...Object(Reflect.get(list, "metadata")), continue: token } });
}

/** Sends blanks until the reader closes the connection. */
export function sendEndlessly(response: ServerResponse): void {
  const much = Buffer.alloc(1024 * 1024, " ");
  const send = () => {
    while (!response.destroyed && response.write(much));
  };
  response.on("drain", send);
  send();
}
