import { hours, seconds } from "../../lambda/core/duration.ts";
import { type ClusterAccess, KubernetesTransport } from "../../lambda/kubernetes/transport.ts";

type Seen = { version: number; values: (string | undefined)[] };
type Event = {
  type: string;
  object: {
    metadata: { name: string; resourceVersion: string; annotations?: Record<string, string> };
  };
};

/** Watches every value an annotation takes on each node, from the moment it is opened. */
export class AnnotationWatch {
  /** Each event but bookmarks, as `TYPE:node`. */
  readonly reported: string[] = [];
  readonly #seen = new Map<string, Seen>();
  readonly #stop: () => void;
  readonly #annotation: string;
  #newest = 0;
  #wake = () => {};

  private constructor(stop: () => void, annotation: string) {
    this.#stop = stop;
    this.#annotation = annotation;
  }

  static async open(
    access: ClusterAccess,
    annotation: string,
    query: Readonly<Record<string, string>> = {},
  ): Promise<AnnotationWatch> {
    const transport = new KubernetesTransport(access);
    const { headers } = access;
    const method = "GET";
    const path = "/api/v1/nodes";
    const list = await transport.send({ method, path: `${path}?limit=1`, headers }, { timeout: seconds(30) });
    const { resourceVersion } = JSON.parse(list.body).metadata;
    const search = new URLSearchParams({ watch: "1", resourceVersion, ...query });
    const stopped = new AbortController();
    const how = { idle: hours(1), signal: stopped.signal };
    const response = await transport.stream({ method, path: `${path}?${search}`, headers }, how);
    if (response.statusCode !== 200) throw new Error(`the watch was answered with ${response.statusCode}`);
    const watch = new AnnotationWatch(() => {
      stopped.abort();
      transport.close();
    }, annotation);
    // Ends when the watch is closed.
    watch.#follow(response).catch(() => {});
    return watch;
  }

  /** Every value up to this version of the node; neighbours that are equal are delivered once. */
  async history(name: string, upTo: string): Promise<readonly (string | undefined)[]> {
    while (this.#newest < Number(upTo)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#seen.get(name)?.values ?? [];
  }

  async close(): Promise<void> {
    this.#stop();
  }

  async #follow(body: AsyncIterable<Buffer>): Promise<void> {
    let rest = "";
    for await (const piece of body) {
      const lines = (rest + piece.toString()).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(JSON.parse(line) as Event);
      this.#wake();
    }
  }

  #take({ type, object }: Event): void {
    if (type === "BOOKMARK") return;
    this.reported.push(`${type}:${object.metadata.name}`);
    const { name, resourceVersion, annotations } = object.metadata;
    const seen = this.#seen.get(name) ?? { version: 0, values: [] };
    const value = annotations?.[this.#annotation];
    if (seen.version === 0 || seen.values.at(-1) !== value) seen.values.push(value);
    seen.version = Number(resourceVersion);
    this.#newest = Math.max(this.#newest, seen.version);
    this.#seen.set(name, seen);
  }
}
