import { after, minutes } from "../../lambda/core/duration.ts";
import type { NodeMeta } from "../../lambda/core/marks/plan-marks.ts";
import type { Clock, Log } from "../../lambda/core/ports.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { isStatus } from "../../lambda/kubernetes/error.ts";
import { type PageQuery, pagesOf } from "../../lambda/kubernetes/node-lists.ts";
import { asRecord, instanceOf, parseNode } from "../../lambda/kubernetes/node-objects.ts";
import { type ClusterLogin, pauseAfter } from "../../lambda/kubernetes/transport.ts";
import { streamOf } from "./watch-stream.ts";

/** A node as the watch last saw it. */
export type WatchedNode = NodeMeta & Readonly<{ instance: string }>;

/** What changed about a node; `before` is missing for a new node, `now` for one that is gone. */
export type NodeChange = Readonly<{ before?: WatchedNode; now?: WatchedNode }>;

export type NodeWatchOptions = Readonly<{
  api: KubernetesCaller;
  login: ClusterLogin;
  selector: string;
  clock: Clock;
  log: Log;
  onChange: (change: NodeChange) => void;
}>;

/** Knows the nodes that match a selector at any time: lists once, then watches, and reconnects as long as it runs. */
export class NodeWatch {
  readonly nodes = new Map<string, WatchedNode>();
  readonly #options: NodeWatchOptions;
  readonly #stop = new AbortController();
  #version = "";
  #following: Promise<void> | undefined;

  constructor(options: NodeWatchOptions) {
    this.#options = options;
  }

  /** Lists all nodes, reports each new one, and watches from there. */
  async start(): Promise<void> {
    await this.#list().catch((error: unknown) => {
      // It took so long that the list expired.
      if (isStatus(error, 410)) return this.#list();
      throw error;
    });
    this.#following = this.#follow();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#following;
  }

  async #follow(): Promise<void> {
    const { log } = this.#options;
    let failures = 0;
    while (!this.#stop.signal.aborted) {
      const versionBefore = this.#version;
      try {
        if (this.#version === "") await this.#list();
        await this.#readStream();
        failures = 0;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        failures = this.#version === versionBefore ? failures + 1 : 1;
        // The server has no events from then on any more: everything is listed again.
        if (isStatus(error, 410)) this.#version = "";
        else log.warn("the watch broke and connects again", { failures, error });
        if (isStatus(error, 401)) this.#options.login.refresh();
      }
      // Also after a stream that ended well: a server that ends streams at once must not be called in a tight loop.
      await this.#pause(pauseAfter(Math.max(1, Math.min(failures, 8)), Math.random));
    }
  }

  async #readStream(): Promise<void> {
    const { login, selector } = this.#options;
    const query = new URLSearchParams({ labelSelector: selector, resourceVersion: this.#version });
    for await (const { type, object } of streamOf(login, "/api/v1/nodes", query, this.#stop.signal)) {
      if (type === "ADDED" || type === "MODIFIED") this.#see(readNode(object));
      if (type === "DELETED") this.#miss(readNode(object).name);
      this.#version = versionOf(object);
    }
  }

  async #list(): Promise<void> {
    const { api, selector, clock } = this.#options;
    const found = new Map<string, WatchedNode>();
    let version = "";
    const deadline = after(clock.now(), minutes(5));
    const ask = (page: PageQuery) => {
      const query = { labelSelector: selector, ...page };
      return api.call({ method: "GET", path: "/api/v1/nodes", query }, { deadline });
    };
    for await (const page of pagesOf(ask, 250)) {
      for (const item of page.items) {
        const node = readNode(item);
        found.set(node.name, node);
      }
      version = page.resourceVersion;
    }
    for (const name of this.nodes.keys()) if (!found.has(name)) this.#miss(name);
    for (const node of found.values()) this.#see(node);
    this.#version = version;
  }

  #see(now: WatchedNode): void {
    const before = this.nodes.get(now.name);
    this.nodes.set(now.name, now);
    // The same name with another UID is another node.
    if (before && before.createdAt.getTime() !== now.createdAt.getTime()) this.#report({ before });
    const isSame = before?.createdAt.getTime() === now.createdAt.getTime();
    this.#report(isSame && before ? { before, now } : { now });
  }

  #miss(name: string): void {
    const before = this.nodes.get(name);
    this.nodes.delete(name);
    if (before) this.#report({ before });
  }

  #report(change: NodeChange): void {
    this.#options.onChange(change);
  }

  #pause(duration: number): Promise<void> {
    const { signal } = this.#stop;
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, duration);
      signal.addEventListener("abort", done);
    });
  }
}

const readNode = (value: unknown): WatchedNode => ({ ...parseNode(value), instance: instanceOf(value) });

function versionOf(value: unknown): string {
  const { resourceVersion } = asRecord(asRecord(value, "an answer").metadata, "an answer's metadata");
  return typeof resourceVersion === "string" ? resourceVersion : "";
}
