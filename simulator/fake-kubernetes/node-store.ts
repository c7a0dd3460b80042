import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { ownersAfter, ownersGiven } from "./managed-fields.ts";
import {
  checkMetadata,
  isObject,
  type Json,
  type JsonObject,
  type NodeObject,
  notFound,
  Refusal,
  textsOf,
  withoutEmptyMaps,
} from "./objects.ts";

export type NodeChange = Readonly<{
  type: "ADDED" | "MODIFIED" | "DELETED";
  version: number;
  node: NodeObject;
  before?: NodeObject;
}>;

/** The number of changes that a watch may have missed and still continue. */
const remembered = 10_000;

/** The nodes with their versions, and the listeners for changes. */
export class NodeStore {
  readonly #nodes = new Map<string, NodeObject>();
  readonly #listeners = new Set<(change: NodeChange) => void>();
  readonly #annotations = new Map<string, JsonObject[]>();
  readonly #now: () => Date;
  #changes: NodeChange[] = [];
  #version = 1000;
  #sorted: readonly NodeObject[] | undefined;

  constructor(now: () => Date) {
    this.#now = now;
  }

  get version(): number {
    return this.#version;
  }

  /** All nodes by name; the list does not change afterwards. */
  all(): readonly NodeObject[] {
    this.#sorted ??= [...this.#nodes.values()].toSorted((a, b) =>
      a.metadata.name < b.metadata.name ? -1 : 1,
    );
    return this.#sorted;
  }

  get(name: string): NodeObject {
    const node = this.#nodes.get(name);
    if (!node) throw notFound(name);
    return node;
  }

  create(wish: Json, manager: string): NodeObject {
    const { metadata, spec, status } = isObject(wish) ? wish : {};
    const asked: JsonObject = isObject(metadata) ? metadata : {};
    const name = checkMetadata(asked);
    if (this.#nodes.has(name)) throw new Refusal(409, "AlreadyExists", `nodes "${name}" already exists`);
    const { creationTimestamp } = asked;
    const now = this.#now().toISOString();
    const born = typeof creationTimestamp === "string" ? creationTimestamp : now;
    const own = withoutEmptyMaps(asked);
    const managedFields = ownersAfter("new", own, { manager, time: now });
    return this.#put("ADDED", {
      apiVersion: "v1",
      kind: "Node",
      metadata: {
        ...own,
        ...(managedFields.length > 0 && { managedFields }),
        name,
        uid: randomUUID(),
        resourceVersion: "",
        creationTimestamp: born.replace(/\.\d+Z$/, "Z"),
      },
      spec: isObject(spec) ? spec : {},
      status: isObject(status) ? status : {},
    });
  }

  /** Replaces a node in the name of a manager, without its status; a stale version is refused. */
  replace(name: string, wish: Json, manager: string): NodeObject {
    const before = this.get(name);
    const { metadata, spec } = isObject(wish) ? wish : {};
    const asked: JsonObject = isObject(metadata) ? metadata : {};
    const { resourceVersion = before.metadata.resourceVersion } = asked;
    if (resourceVersion !== before.metadata.resourceVersion) throw conflict(name);
    checkMetadata({ ...asked, name: asked.name ?? name }, name);
    const { uid, creationTimestamp } = before.metadata;
    const kept = { name, uid, creationTimestamp, resourceVersion: before.metadata.resourceVersion };
    // A request may forge managedFields, as on the real server.
    const { managedFields: given, ...rest } = asked;
    const own = withoutEmptyMaps(rest);
    const was = { ...before.metadata, managedFields: ownersGiven(before.metadata.managedFields, given) };
    const managedFields = ownersAfter(was, own, { manager, time: this.#now().toISOString() });
    const after = { ...own, ...(managedFields.length > 0 && { managedFields }), ...kept };
    return this.#change(before, { ...before, metadata: after, spec: isObject(spec) ? spec : {} });
  }

  remove(name: string): NodeObject {
    const before = this.get(name);
    this.#nodes.delete(name);
    this.#version += 1;
    const metadata = { ...before.metadata, resourceVersion: String(this.#version) };
    this.#report({ type: "DELETED", version: this.#version, node: { ...before, metadata }, before });
    return before;
  }

  /** What has changed since a version; undefined when that is forgotten. */
  since(version: number): readonly NodeChange[] | undefined {
    const oldest = this.#changes[0]?.version ?? this.#version + 1;
    if (version < oldest - 1) return undefined;
    return this.#changes.filter((change) => change.version > version);
  }

  /** Drops old versions, as the real server does from time to time. */
  forget(): void {
    this.#changes = [];
  }

  /** Calls `listener` at every change; returns a function that stops this. */
  listen(listener: (change: NodeChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The annotations a node had, version by version, also when it is gone. */
  annotationsOf(name: string): readonly JsonObject[] {
    return this.#annotations.get(name) ?? [];
  }

  #change(before: NodeObject, after: NodeObject): NodeObject {
    // A write that changes nothing makes no version.
    return isDeepStrictEqual(before, after) ? before : this.#put("MODIFIED", after, before);
  }

  #put(type: "ADDED" | "MODIFIED", wish: NodeObject, before?: NodeObject): NodeObject {
    this.#version += 1;
    const node = { ...wish, metadata: { ...wish.metadata, resourceVersion: String(this.#version) } };
    this.#nodes.set(node.metadata.name, node);
    this.#report({ type, version: this.#version, node, ...(before ? { before } : {}) });
    return node;
  }

  #report(change: NodeChange): void {
    this.#sorted = undefined;
    this.#changes.push(change);
    if (this.#changes.length > 2 * remembered) this.#changes = this.#changes.slice(-remembered);
    if (change.type !== "DELETED") this.#note(change.node);
    for (const listener of this.#listeners) listener(change);
  }

  #note({ metadata }: NodeObject): void {
    const noted = this.#annotations.get(metadata.name) ?? [];
    this.#annotations.set(metadata.name, [...noted.slice(-999), textsOf(metadata.annotations)]);
  }
}

const conflict = (name: string) =>
  new Refusal(
    409,
    "Conflict",
    `Operation cannot be fulfilled on nodes "${name}": the object has been modified; please apply your changes to the latest version and try again`,
  );
