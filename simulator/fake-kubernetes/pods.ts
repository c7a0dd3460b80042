import { randomUUID } from "node:crypto";
import { Lists } from "./lists.ts";
import { type Json, Refusal, type StoredObject } from "./objects.ts";
import type { View } from "./views.ts";

export type FakePod = Readonly<{
  name: string;
  node: string;
  phase?: "Pending" | "Running" | "Succeeded" | "Failed";
  owner?: Readonly<{ apiVersion: string; kind: string }>;
  /** What it requests, in thousandths of a core. */
  cpu?: number;
  annotations?: Readonly<Record<string, string>>;
  /** It runs only on nodes with these labels. */
  nodeSelector?: Readonly<Record<string, string>>;
}>;

/** The cluster's pods; they run as long as a test lets them. */
export class FakePods {
  /** Refuses every list, as a cluster that has not given the right. */
  isRefused = false;
  readonly #pods = new Map<string, StoredObject>();
  readonly #lists = new Lists(this, "Pod");
  readonly #now: () => Date;
  version = 1;

  constructor(now: () => Date) {
    this.#now = now;
  }

  all(): readonly StoredObject[] {
    return [...this.#pods.values()];
  }

  add({ name, node, phase = "Running", owner, cpu, nodeSelector, annotations = {} }: FakePod): void {
    this.version += 1;
    const [uid, resourceVersion] = [randomUUID(), String(this.version)];
    const creationTimestamp = this.#now()
      .toISOString()
      .replace(/\.\d+Z$/, "Z");
    const ownerReferences = owner ? [{ ...owner, name: "owner", uid: randomUUID() }] : [];
    this.#pods.set(name, {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        ...{ name, namespace: "default", uid, resourceVersion, creationTimestamp },
        ...(owner && { ownerReferences }),
        ...(Object.keys(annotations).length > 0 && { annotations }),
      },
      spec: {
        nodeName: node,
        ...(nodeSelector && { nodeSelector }),
        ...(cpu !== undefined && {
          containers: [{ name: "main", resources: { requests: { cpu: `${cpu}m` } } }],
        }),
      },
      status: { phase },
    });
  }

  remove(name: string): void {
    this.version += 1;
    this.#pods.delete(name);
  }

  list(query: URLSearchParams, view: View): Json {
    if (this.isRefused) throw new Refusal(403, "Forbidden", "pods is forbidden");
    return this.#lists.list(query, view);
  }

  /** Expires every open list. */
  forget(): void {
    this.#lists.forget();
  }
}
