import { setTimeout as wait } from "node:timers/promises";
import { after, type Duration, minutes } from "../../lambda/core/duration.ts";
import type { NodeMeta } from "../../lambda/core/marks/plan-marks.ts";
import type { Clock, Log } from "../../lambda/core/ports.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { isStatus } from "../../lambda/kubernetes/error.ts";
import { type PageQuery, pagesOf } from "../../lambda/kubernetes/lists.ts";
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
  /** Gets the API server's time whenever a stream begins. */
  onServerTime?: (time: Date) => void;
}>;

/** A stream that works brings an event, a bookmark or its own end within this time. */
const longestSilence: Duration = minutes(10);

/** After so many failures in a row everything is listed again. */
const mostFailures = 4;

/** Knows the nodes that match a selector at any time: lists once, then watches, and reconnects as long as it runs. */
export class NodeWatch {
  readonly nodes = new Map<string, WatchedNode>();
  readonly #options: NodeWatchOptions;
  readonly #stop = new AbortController();
  #version = "";
  #following: Promise<void> | undefined;
  #isConnected = false;
  #events = 0;
  #answeredAt: Date;

  constructor(options: NodeWatchOptions) {
    this.#options = options;
    this.#answeredAt = options.clock.now();
  }

  /** Its time without an answer counts from now: another run was at work until now. */
  countFromNow(): void {
    this.#answeredAt = this.#options.clock.now();
  }

  /** Whether changes of nodes arrive. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Whether the API server has answered lately, or may still do so soon. */
  get isWorking(): boolean {
    return this.#options.clock.now() < after(this.#answeredAt, longestSilence);
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
      const eventsBefore = this.#events;
      try {
        if (this.#version === "") await this.#list();
        await this.#readStream();
        failures = 0;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        this.#isConnected = false;
        // A list alone is no progress: it would be read again and again.
        failures = this.#events === eventsBefore ? failures + 1 : 1;
        // The server has no events from then on any more, or none yet: a cluster that was restored counts anew.
        const isExpired = isStatus(error, 410);
        if (isExpired || failures % mostFailures === 0) this.#version = "";
        if (!isExpired) log.warn("the watch broke and connects again", { failures, error });
        if (isStatus(error, 401)) this.#options.login.refresh();
      }
      // Also after a stream that ended well: a server that ends streams at once must not be called in a tight loop.
      const pause = pauseAfter(Math.max(1, Math.min(failures, 8)), Math.random);
      await wait(pause, undefined, { signal: this.#stop.signal }).catch(() => {});
    }
  }

  async #readStream(): Promise<void> {
    const { login, selector, clock, onServerTime } = this.#options;
    const query = new URLSearchParams({ labelSelector: selector, resourceVersion: this.#version });
    const onOpen = (date = "") => {
      this.#isConnected = true;
      this.#answeredAt = clock.now();
      const time = new Date(date);
      if (!Number.isNaN(time.getTime())) onServerTime?.(time);
    };
    const stream = { login, path: "/api/v1/nodes", query, signal: this.#stop.signal, onOpen };
    for await (const { type, object } of streamOf(stream)) {
      this.#answeredAt = clock.now();
      this.#events += 1;
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
    this.#answeredAt = clock.now();
  }

  #see(now: WatchedNode): void {
    // The same name, created at another time, is another node.
    if (this.nodes.get(now.name)?.createdAt.getTime() !== now.createdAt.getTime()) this.#miss(now.name);
    const before = this.nodes.get(now.name);
    this.nodes.set(now.name, now);
    this.#options.onChange({ ...(before && { before }), now });
  }

  #miss(name: string): void {
    const before = this.nodes.get(name);
    this.nodes.delete(name);
    if (before) this.#options.onChange({ before });
  }
}

const readNode = (value: unknown): WatchedNode => ({ ...parseNode(value), instance: instanceOf(value) });

function versionOf(value: unknown): string {
  const { resourceVersion } = asRecord(asRecord(value, "an answer").metadata, "an answer's metadata");
  return typeof resourceVersion === "string" ? resourceVersion : "";
}
