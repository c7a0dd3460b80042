import { after, type Duration, minutes } from "../core/duration.ts";
import { TryAgainError } from "../core/errors.ts";
import { holderName, holdLabel } from "../core/marks/keys.ts";
import {
  type Decision,
  type NodeMeta,
  planHandOver,
  planMove,
  planRelease,
} from "../core/marks/plan-marks.ts";
import type { CallContext, Clock, Log } from "../core/ports.ts";
import type { KubernetesCaller } from "../kubernetes/client.ts";
import { isStatus } from "../kubernetes/error.ts";
import { explain } from "../kubernetes/explain.ts";
import { forEachConcurrent } from "../kubernetes/for-each-concurrent.ts";
import { changeNode } from "../kubernetes/node-changes.ts";
import { listNodes, markedByAnyone } from "../kubernetes/node-lists.ts";
import { inFlight } from "../kubernetes/transport.ts";
import { type AccessObject, accessManifest, policyPath } from "./manifest.ts";
import { annotationsIn } from "./policy.ts";
import type { Rights } from "./rules.ts";

export type KubernetesAccessOptions = Readonly<{
  /** Logged in as an admin of the cluster. */
  api: KubernetesCaller;
  clock: Clock;
  log: Log;
  /** The longest each action may take. */
  timeLimit?: Duration;
  pageSize?: number;
}>;

/** What is amiss with one of our objects in the cluster. */
export type AccessFinding = Readonly<{
  kind: string;
  state: "right" | "different" | "missing" | "unknown to this cluster";
}>;

/** Our rights in a cluster: written, checked and removed; and every mark of ours moved or taken off. */
export class KubernetesAccess implements Rights {
  readonly #options: KubernetesAccessOptions;

  constructor(options: KubernetesAccessOptions) {
    this.#options = options;
  }

  async write(annotations: readonly string[]): Promise<"with policy" | "without policy"> {
    let written: "with policy" | "without policy" = "with policy";
    const context = this.#context();
    for (const wanted of accessManifest(annotations)) {
      if (!(await this.#apply(wanted, context))) written = "without policy";
    }
    return written;
  }

  async annotations(): Promise<readonly string[]> {
    try {
      return annotationsIn(
        await this.#options.api.call({ method: "GET", path: policyPath }, this.#context()),
      );
    } catch (error) {
      if (isStatus(error, 404)) return [];
      throw explain(error, "read our policy");
    }
  }

  /** Compares what is in the cluster with what should be. */
  async check(annotations: readonly string[]): Promise<readonly AccessFinding[]> {
    const context = this.#context();
    return Promise.all(
      accessManifest(annotations).map(async ({ path, object, needsPolicies }) => {
        const kind = object.kind ?? "";
        try {
          const found = await this.#options.api.call({ method: "GET", path }, context);
          return { kind, state: contains(found, object) ? "right" : "different" };
        } catch (error) {
          if (!isStatus(error, 404)) throw explain(error, `read our ${kind}`);
          return {
            kind,
            state: needsPolicies && isUnknownKind(error) ? "unknown to this cluster" : "missing",
          };
        }
      }),
    );
  }

  async remove(): Promise<void> {
    const context = this.#context();
    // What allows goes before what restrains.
    for (const { path, object } of accessManifest([]).toReversed()) {
      try {
        await this.#options.api.call({ method: "DELETE", path }, context);
      } catch (error) {
        if (!isStatus(error, 404)) throw explain(error, `remove our ${object.kind}`);
      }
    }
  }

  handOver(from: string, to: string): Promise<number> {
    return this.#everyMark("handed over", (node) => planHandOver(node, from, to, "handed over"));
  }

  moveMarks(from: string, to: string, whose: "ours" | "its owner's"): Promise<number> {
    return this.#everyMark("moved", (node) => planMove(node, from, to, whose));
  }

  removeMarks(annotation: string): Promise<number> {
    return this.#everyMark("released", (node) =>
      planRelease(node, node.labels?.[holdLabel] ?? "", annotation),
    );
  }

  async #apply({ path, object, needsPolicies }: AccessObject, context: CallContext): Promise<boolean> {
    const query = { fieldManager: holderName, force: "true" };
    const contentType = "application/apply-patch+yaml";
    try {
      await this.#options.api.call({ method: "PATCH", path, query, contentType, body: object }, context);
      return true;
    } catch (error) {
      if (needsPolicies && isStatus(error, 404)) return false;
      throw explain(error, `write our ${object.kind}`);
    }
  }

  async #everyMark<Outcome extends string>(
    counted: Outcome,
    plan: (node: NodeMeta) => Decision<Outcome | "kept">,
  ): Promise<number> {
    const { api, pageSize = 250 } = this.#options;
    const context = this.#context();
    let done = 0;
    let undone = 0;
    await forEachConcurrent(
      this.#list(listNodes(api, markedByAnyone, context, pageSize)),
      inFlight,
      async (node) => {
        const { outcome } = await changeNode(api, node, { plan, wantsWhole: false, context });
        if (outcome === counted) done += 1;
        if (outcome === "failed" || outcome === "left") undone += 1;
      },
    );
    if (undone > 0) throw new TryAgainError(`the marks of ${undone} nodes could not be ${counted}`);
    return done;
  }

  async *#list(nodes: AsyncGenerator<NodeMeta, void, undefined>): AsyncGenerator<NodeMeta, void, undefined> {
    try {
      yield* nodes;
    } catch (error) {
      throw explain(error, "list nodes");
    }
  }

  #context(): CallContext {
    const { clock, log, timeLimit = minutes(2) } = this.#options;
    return { deadline: after(clock.now(), timeLimit), log };
  }
}

// A missing object is named by the server, a missing kind of object is not.
const isUnknownKind = (error: Error): boolean =>
  error.message.includes("the server could not find the requested resource");

/** Whether all that is wanted is there; the server adds defaults of its own. */
function contains(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== "object" || wanted === null) return found === wanted;
  if (typeof found !== "object" || found === null) return false;
  if (Array.isArray(wanted) && (!Array.isArray(found) || found.length !== wanted.length)) return false;
  const there = new Map(Object.entries(found));
  return Object.entries(wanted).every(([key, value]) => contains(there.get(key), value));
}
