import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "../support/fast-check.ts";

/** What becomes of one honest answer on its way. */
export type Mangle =
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
  '{"kind":"Status","apiVersion":"v1","status":"Failure","message":"so it is","code":500}',
  '{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"columnDefinitions":[],"rows":[]}',
  '{"kind":"Status","message":{"toString":1}}',
  `{"message":"${"long ".repeat(20_000)}"}`,
  `${"[".repeat(50_000)}`,
  `{"metadata":{"name":"a","labels":{"__proto__":"x"}},"items":{"length":3}}`,
];

/** Answers as no API server gives them, but proxies, faults and foes might. */
export const mangles: fc.Arbitrary<Mangle> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Mangle>({ do: "pass" }) },
  fc.constantFrom<Mangle>(
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

/** Stands before a server and mangles its answers by a script, over and over from its beginning. */
export class ManglingProxy {
  script: readonly Mangle[] = [{ do: "pass" }];
  /** Requests that came to where redirects lead, with whatever they show. */
  readonly lured: IncomingMessage["headers"][] = [];
  readonly #behind: string;
  readonly #server: Server;
  readonly #lure: Server;
  #count = 0;

  private constructor(behind: string) {
    this.#behind = behind;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch(() => request.socket.destroy());
    });
    this.#lure = createServer((request, response) => {
      this.lured.push(request.headers);
      response.end("{}");
    });
  }

  static async start(behind: string): Promise<ManglingProxy> {
    const proxy = new ManglingProxy(behind);
    for (const server of [proxy.#server, proxy.#lure]) {
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
    }
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  begin(script: readonly Mangle[]): void {
    this.script = script;
    this.#count = 0;
  }

  async stop(): Promise<void> {
    for (const server of [this.#server, this.#lure]) {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const mangle = this.script[this.#count++ % this.script.length] ?? { do: "pass" };
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = "GET", url = "/" } = request;
    const headers = Object.entries(request.headers).filter(
      ([name]) => !/^(host|connection|content-length|transfer-encoding|keep-alive)$/.test(name),
    );
    const body = chunks.length > 0 ? Buffer.concat(chunks) : null;
    // Whoever goes round comes to the beginning again.
    const asked = url.replace(`continue=${circle}`, "");
    const answer = await fetch(`${this.#behind}${asked}`, {
      method,
      headers: headers.map(([name, value]): [string, string] => [name, String(value)]),
      body,
    });
    this.#answer(mangle, request, response, answer.status, await answer.text());
  }

  #answer(
    mangle: Mangle,
    request: IncomingMessage,
    response: ServerResponse,
    status: number,
    honest: string,
  ): void {
    const send = (code: number, body: string, headers: Record<string, string> = {}) => {
      response.writeHead(code, { "content-type": "application/json", ...headers });
      response.end(code === 204 ? undefined : body);
    };
    switch (mangle.do) {
      case "reset":
        request.socket.resetAndDestroy();
        break;
      case "close early":
        response.writeHead(status, { "content-length": String(honest.length + 10) });
        response.write(honest.slice(0, honest.length / 2));
        response.socket?.end();
        break;
      case "garbage chunks":
        request.socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nnonsense\r\n");
        request.socket.end();
        break;
      case "cut":
        send(status, honest.slice(0, Math.floor(honest.length * mangle.keep * 0.999)));
        break;
      case "say":
        send(mangle.status, mangle.body);
        break;
      case "echo":
        send(mangle.status, `you said ${JSON.stringify(request.headers)}`);
        break;
      case "redirect": {
        const { port } = this.#lure.address() as AddressInfo;
        send(mangle.status, "", { location: `http://127.0.0.1:${port}/${request.url}` });
        break;
      }
      case "throttle":
        send(429, "{}", { "retry-after": mangle.retryAfter });
        break;
      case "swap":
        send(status, swapped(honest, mangle.which, mangle.value));
        break;
      case "circle":
        send(status, withContinue(honest, circle));
        break;
      case "forget":
        if (/[?&]continue=/.test(request.url ?? "")) send(410, "{}");
        else send(status, honest);
        break;
      default:
        send(status, honest);
    }
  }
}

/** JSON with one value, wherever it stands, replaced by one of another type. */
export function swapped(text: string, which: number, value: unknown): string {
  const root: unknown = JSON.parse(text);
  const places: (() => void)[] = [];
  const visit = (at: unknown) => {
    if (typeof at !== "object" || at === null) return;
    for (const [key, old] of Object.entries(at)) {
      // An object for an object, or a list for a list, is another statement and not another type.
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

/** Blanks for as long as somebody reads them. */
export function pourInto(response: ServerResponse): void {
  const much = Buffer.alloc(1024 * 1024, " ");
  const pour = () => {
    while (!response.destroyed && response.write(much));
  };
  response.on("drain", pour);
  pour();
}
