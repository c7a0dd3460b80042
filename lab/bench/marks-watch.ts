import { get } from "node:https";
import { createInterface } from "node:readline";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import type { ApiServer } from "./bare-loop.ts";

/** Sees from outside when nodes are marked, as the API server reports it. */
export class MarksWatch {
  readonly #marked = new Set<string>();
  #wake = () => {};
  #close = () => {};

  /** From now on; nodes that are marked already are not counted. */
  static async open({ server, ca, token }: ApiServer): Promise<MarksWatch> {
    const watch = new MarksWatch();
    const query = new URLSearchParams({ watch: "1", labelSelector: holdLabel, resourceVersion: "0" });
    await new Promise<void>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` };
      const request = get(`${server}/api/v1/nodes?${query}`, { ca, headers, agent: false }, (answer) => {
        // Closing the watch cuts the answer off, which readline reports as an error.
        createInterface(answer)
          .on("line", (line) => watch.#take(JSON.parse(line)))
          .on("error", () => {});
        resolve();
      });
      request.once("error", reject);
      watch.#close = () => request.destroy();
    });
    return watch;
  }

  /** The moment at which so many nodes have been marked. */
  async until(nodes: number): Promise<Date> {
    while (this.#marked.size < nodes) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return new Date();
  }

  close(): void {
    this.#close();
  }

  #take({ type, object }: { type: string; object: { metadata: { name: string } } }): void {
    if (type !== "ADDED") return;
    this.#marked.add(object.metadata.name);
    this.#wake();
  }
}
