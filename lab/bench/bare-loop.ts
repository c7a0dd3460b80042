import { Agent, request } from "node:https";
import { holderName } from "../../lambda/core/marks/keys.ts";
import { forEachConcurrent } from "../../lambda/kubernetes/for-each-concurrent.ts";

/** An API server, and the credentials of the user. */
export type ApiServer = Readonly<{ server: string; ca: Buffer; token: string }>;

const pathOf = (name: string) => `/api/v1/nodes/${name}`;

/** A connection pool and nothing else: the fastest way in which a Node process can call this API server. */
export class BareLoop {
  readonly #agent: Agent;
  readonly #apiServer: ApiServer;
  /** How many requests are in flight. */
  readonly limit: number;

  constructor(apiServer: ApiServer, limit: number) {
    this.#apiServer = apiServer;
    this.limit = limit;
    this.#agent = new Agent({ keepAlive: true, maxSockets: limit, ca: apiServer.ca });
  }

  /** Sends one request for each name, so many at a time. */
  async each(
    names: readonly string[],
    method: string,
    body: (name: string) => unknown,
    path = pathOf,
  ): Promise<void> {
    await forEachConcurrent(iterate(names), this.limit, (name) => this.#send(method, path(name), body(name)));
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(method: string, path: string, body: unknown): Promise<void> {
    const isPatch = method === "PATCH";
    const contentType = isPatch ? "application/json-patch+json" : "application/json";
    // The admission policy admits marks in the holder's name only.
    const query = isPatch ? `?fieldManager=${holderName}` : "";
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${this.#apiServer.token}`, "content-type": contentType };
      const call = request(
        `${this.#apiServer.server}${path}${query}`,
        { agent: this.#agent, method, headers },
        (answer) => {
          const isGood = (answer.statusCode ?? 500) < 300;
          answer
            .resume()
            .once("end", () =>
              isGood ? resolve() : reject(new Error(`${method} ${path}: ${answer.statusCode}`)),
            );
        },
      );
      call.once("error", reject).end(JSON.stringify(body));
    });
  }
}

async function* iterate<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
