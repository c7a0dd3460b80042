import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
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
  script: readonly AnswerChange[] = [{ do: "pass" }];
  /** The headers of requests that followed a redirect. */
  readonly redirected: IncomingMessage["headers"][] = [];
  readonly #target: string;
  readonly #server: Server;
  readonly #redirectTarget: Server;
  #count = 0;

  private constructor(target: string) {
    this.#target = target;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => request.socket.destroy());
    });
    this.#redirectTarget = createServer((request, response) => {
      this.redirected.push(request.headers);
      response.end("{}");
    });
  }

  static async start(target: string): Promise<ChangingProxy> {
    const proxy = new ChangingProxy(target);
    for (const server of [proxy.#server, proxy.#redirectTarget]) {
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
    }
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  begin(script: readonly AnswerChange[]): void {
    this.script = script;
    this.#count = 0;
  }

  async stop(): Promise<void> {
    for (const server of [this.#server, this.#redirectTarget]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const change = this.script[this.#count++ % this.script.length] ?? { do: "pass" };
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = "GET", url = "/" } = request;
    const headers = Object.entries(request.headers).filter(
      ([name]) => !/^(host|connection|content-length|transfer-encoding|keep-alive)$/.test(name),
    );
    const body = chunks.length > 0 ? Buffer.concat(chunks) : null;
    // A circular token leads to the first page again.
    const asked = url.replace(`continue=${circle}`, "");
    const answer = await fetch(`${this.#target}${asked}`, {
      method,
      headers: headers.map(([name, value]): [string, string] => [name, String(value)]),
      body,
    });
    this.#answer(change, request, response, answer.status, await answer.text());
  }

  #answer(
    change: AnswerChange,
    request: IncomingMessage,
    response: ServerResponse,
    status: number,
    correct: string,
  ): void {
    const send = (code: number, body: string, headers: Record<string, string> = {}) => {
      response.writeHead(code, { "content-type": "application/json", ...headers });
      response.end(code === 204 ? undefined : body);
    };
    switch (change.do) {
      case "reset":
        request.socket.resetAndDestroy();
        break;
      case "close early":
        response.writeHead(status, { "content-length": String(correct.length + 10) });
        response.write(correct.slice(0, correct.length / 2));
        response.socket?.end();
        break;
      case "garbage chunks":
        request.socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nnonsense\r\n");
        request.socket.end();
        break;
      case "cut":
        send(status, correct.slice(0, Math.floor(correct.length * change.keep * 0.999)));
        break;
      case "say":
        send(change.status, change.body);
        break;
      case "echo":
        send(change.status, `request was ${JSON.stringify(request.headers)}`);
        break;
      case "redirect": {
        const { port } = this.#redirectTarget.address() as AddressInfo;
        send(change.status, "", { location: `http://127.0.0.1:${port}/${request.url}` });
        break;
      }
      case "throttle":
        send(429, "{}", { "retry-after": change.retryAfter });
        break;
      case "swap":
        send(status, swapped(correct, change.which, change.value));
        break;
      case "circle":
        send(status, withContinue(correct, circle));
        break;
      case "forget":
        if (/[?&]continue=/.test(request.url ?? "")) send(410, "{}");
        else send(status, correct);
        break;
      default:
        send(status, correct);
    }
  }
}

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
