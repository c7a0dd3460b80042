import { setTimeout as wait } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";
import { after, type Duration, minutes, seconds } from "../core/duration.ts";
import { TryAgainError } from "../core/errors.ts";
import { isHoldId } from "../core/marks/hold-id.ts";
import { holderName, holdLabel } from "../core/marks/keys.ts";
import { otherAnnotations } from "../core/marks/other-annotations.ts";
import { type ManagedNode, planRelease } from "../core/marks/plan-marks.ts";
import type { CallContext, Clock, Log } from "../core/ports.ts";
import type { Rules } from "../core/rules.ts";
import type { KubernetesCaller } from "../kubernetes/client.ts";
import { isStatus } from "../kubernetes/error.ts";
import { forEachConcurrent } from "../kubernetes/for-each-concurrent.ts";
import { changeNode } from "../kubernetes/node-changes.ts";
import { listNodes, markedByAnyone } from "../kubernetes/node-lists.ts";
import { asRecord } from "../kubernetes/node-objects.ts";
import { inFlight } from "../kubernetes/transport.ts";
import {
  type AccessObject,
  accessManifest,
  clusterRoleBindingPath,
  everyAccessObject,
  holderAnnotation,
} from "./manifest.ts";
import type { Rights } from "./ports.ts";

export type KubernetesAccessOptions = Readonly<{
  /** Logged in as an admin of the cluster. */
  api: KubernetesCaller;
  clock: Clock;
  log: Log;
  /** The deployment's name, by which its rights are known from those of another one. */
  holder?: string;
  /** The settings, which decide on the rights to patch nodes, to list pods and to write Events. */
  mode?: Rules["mode"];
  auto?: boolean;
  nodeEvents?: boolean;
  /** When all actions must have ended. */
  until?: Date;
  pageSize?: number;
  sleep?: (duration: Duration) => Promise<void>;
}>;

/** A removal is three actions, which fit into the function's time together. */
const timeLimit: Duration = minutes(4);

/** API servers learn of rights and policies one after the other, in about a second; busy ones take longer. */
const knownAfter: Duration = seconds(10);

/** Our rights in a cluster, written and removed; and every mark of ours removed. */
export class KubernetesAccess implements Rights {
  readonly #options: KubernetesAccessOptions;

  constructor(options: KubernetesAccessOptions) {
    this.#options = options;
  }

  async write(annotation: string): Promise<"with policy" | "without policy"> {
    let written: "with policy" | "without policy" = "with policy";
    const context = this.#context();
    const wanted = accessManifest(annotation, this.#options);
    for (const one of wanted) if (!(await this.#apply(one, context))) written = "without policy";
    const paths = new Set(wanted.map(({ path }) => path));
    for (const { path } of everyAccessObject) if (!paths.has(path)) await this.#delete(path);
    return written;
  }

  async otherHolder(): Promise<string | undefined> {
    const found = await this.#unlessMissing("GET", clusterRoleBindingPath);
    const { metadata, subjects } = v.parse(v.fallback(binding, { metadata: {}, subjects: [] }), found);
    const [account] = subjects;
    if (account && subjects.every(({ kind }) => kind === "ServiceAccount"))
      return `a Pod: ServiceAccount ${account.name} in namespace ${account.namespace}`;
    const holder = metadata.annotations?.[holderAnnotation];
    // Rights of before this annotation, or applied by hand, have none.
    return holder === undefined || holder === this.#options.holder ? undefined : `the deployment ${holder}`;
  }

  async untilKnown(): Promise<void> {
    const { sleep = wait } = this.#options;
    await sleep(knownAfter);
  }

  async otherMarks(annotation: string): Promise<ReadonlyMap<string, number>> {
    const marked: ManagedNode[] = [];
    for await (const node of this.#markedNodes(this.#context()))
      if (isHoldId(node.labels?.[holdLabel])) marked.push(node);
    return otherAnnotations(marked, annotation);
  }

  async revoke(): Promise<void> {
    for (const { path, object } of everyAccessObject) if ("roleRef" in object) await this.#delete(path);
  }

  async remove(): Promise<void> {
    for (const { path } of everyAccessObject) await this.#delete(path);
  }

  async removeMarks(annotation: string): Promise<number> {
    const { api } = this.#options;
    const context = this.#context();
    const counts = { released: 0, left: 0 };
    const plan = (node: ManagedNode) => planRelease(node, { annotation });
    await forEachConcurrent(this.#markedNodes(context), inFlight, async (node) => {
      const outcome = await changeNode(api, node, { plan, context });
      if (outcome === "released") counts.released += 1;
      if (outcome === "failed" || outcome === "left") counts.left += 1;
    });
    if (counts.left > 0) throw new TryAgainError(`the marks of ${counts.left} nodes could not be removed`);
    return counts.released;
  }

  async #delete(path: string): Promise<void> {
    await this.#unlessMissing("DELETE", path);
  }

  async #unlessMissing(method: "GET" | "DELETE", path: string): Promise<unknown> {
    try {
      return await this.#options.api.call({ method, path }, this.#context());
    } catch (error) {
      if (!isStatus(error, 404)) throw error;
      return undefined;
    }
  }

  async #apply({ path, object, needsPolicies }: AccessObject, context: CallContext): Promise<boolean> {
    const { api } = this.#options;
    const query = { fieldManager: holderName, force: "true" };
    const contentType = "application/apply-patch+yaml";
    try {
      const written = await api.call({ method: "PATCH", path, query, contentType, body: object }, context);
      // Applying leaves the fields of others in place; replacing does not.
      if (!isAsWritten(written, object)) {
        await api.call({ method: "PUT", path, body: replacing(written, object) }, context);
      }
      return true;
    } catch (error) {
      if (needsPolicies && isStatus(error, 404)) return false;
      throw error;
    }
  }

  #markedNodes(context: CallContext) {
    const { api, pageSize = 250 } = this.#options;
    return listNodes(api, markedByAnyone, context, pageSize);
  }

  /** No action may end later than all of them must. */
  #context(): CallContext {
    const { clock, log, until } = this.#options;
    const own = after(clock.now(), timeLimit);
    return { deadline: until && until < own ? until : own, log };
  }
}

const binding = v.object({
  metadata: v.object({ annotations: v.optional(v.record(v.string(), v.string())) }),
  subjects: v.optional(
    v.array(v.object({ kind: v.string(), name: v.string(), namespace: v.optional(v.string()) })),
    [],
  ),
});

/** The object as a replacement for the one that was found. */
function replacing(found: unknown, object: AccessObject["object"]): unknown {
  const { resourceVersion } = asRecord(asRecord(found, "our object").metadata ?? {}, "our object's metadata");
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
}

/** Whether an object is what we write, as a whole: a field that we do not write can switch a policy off. */
export function isAsWritten(found: unknown, wanted: AccessObject["object"]): boolean {
  const { metadata: _m, status: _s, ...rest } = asRecord(found, `our ${wanted.kind}`);
  const { metadata: _w, ...written } = wanted;
  return isDeepStrictEqual(rest, written);
}
