import { rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { finished } from "node:stream/promises";
import { seconds } from "../../lambda/core/duration.ts";
import { BadInputError, messageOf } from "../../lambda/core/errors.ts";
import type { Log } from "../../lambda/core/ports.ts";
import { limitedText } from "../../lambda/kubernetes/transport.ts";
import { StartError } from "./rights.ts";
import { controlSocketIn, withShortPath } from "./socket-path.ts";

export type ControlSocketOptions = Readonly<{
  /** Where the socket is made; the caller is the only holder that uses this folder. */
  folder: string;
  /** Answers as the control function does. */
  answer: (payload: unknown) => Promise<unknown>;
  log: Log;
}>;

/** A request has a few words and a reason. */
export const longestRequest = 64 * 1024;

/** Answers control requests over a Unix socket that only its owner can open: one JSON payload a POST. */
export class ControlSocket {
  readonly #options: ControlSocketOptions;
  readonly #server: Server;
  readonly #underWay = new Map<IncomingMessage, Promise<void>>();

  private constructor(options: ControlSocketOptions) {
    this.#options = options;
    this.#server = createServer({ requestTimeout: seconds(10) }, (request, response) => {
      const work = this.#answer(request, response).finally(() => this.#underWay.delete(request));
      this.#underWay.set(request, work);
    });
  }

  static async open(options: ControlSocketOptions): Promise<ControlSocket> {
    const { folder } = options;
    const control = new ControlSocket(options);
    try {
      // A killed holder leaves its socket behind.
      await rm(controlSocketIn(folder), { force: true });
      await withShortPath(folder, (path) => listenPrivately(control.#server, path));
    } catch (error) {
      const what = `a socket cannot be made in ${folder}: ${messageOf(error)}`;
      throw new StartError(what, "Choose another folder by --data.");
    }
    return control;
  }

  /** Accepts no more requests, finishes those that have arrived completely, and removes the socket. */
  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    await Promise.all([...this.#underWay].map(([request, work]) => request.complete && work));
    this.#server.closeAllConnections();
    await closed;
    await rm(controlSocketIn(this.#options.folder), { force: true });
  }

  /** An answer, or an error in the form of Lambda's function errors. */
  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { answer, log } = this.#options;
    try {
      if (request.method !== "POST") return await send(response, 405, {});
      await send(response, 200, (await answer(await payloadOf(request))) ?? null);
    } catch (error) {
      const isInput = error instanceof BadInputError;
      log.error(isInput ? "a request was refused" : "a request failed", { error });
      const errorType = error instanceof Error ? error.name : "Error";
      await send(response, isInput ? 400 : 500, { errorType, errorMessage: messageOf(error) });
    }
  }
}

/** The umask sets the mode of a socket: changed afterwards, the socket would be open to others for a moment. */
function listenPrivately(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const before = process.umask(0o177);
    try {
      server.once("error", reject).listen(path, resolve);
    } finally {
      process.umask(before);
    }
  });
}

/** A longer request is cut off and gets no answer. */
async function payloadOf(request: IncomingMessage): Promise<unknown> {
  const text = await limitedText(request, longestRequest);
  try {
    return JSON.parse(text);
  } catch {
    throw new BadInputError("This request cannot be done", ["the payload must be JSON"]);
  }
}

/** Settles when the answer is sent, or its reader is gone. */
async function send(response: ServerResponse, status: number, content: unknown): Promise<void> {
  response.writeHead(status, { "content-type": "application/json", connection: "close" });
  response.end(JSON.stringify(content));
  await finished(response).catch(() => {});
}
