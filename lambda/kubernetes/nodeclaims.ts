import * as v from "valibot";
import { Karpenter, type KarpenterGeneration } from "../core/marks/keys.ts";
import type { CallContext, NodeClaim, NodeClaims, Unavailable } from "../core/ports.ts";
import type { NodePoolFilter, Scope } from "../core/scope.ts";
import type { KubernetesCaller } from "./client.ts";
import { isStatus } from "./error.ts";
import { itemsOf } from "./lists.ts";
import { selectors, selectorText } from "./node-lists.ts";
import { instanceIn } from "./node-objects.ts";
import { readResources } from "./quantity.ts";

export const nodeClaimsGroup = "karpenter.sh";
/** Karpenter before v1.0 serves the second one alone, and does not say when a node is consolidatable. */
type Version = "v1" | "v1beta1";
const nodeClaimsPath = (version: Version) => `/apis/${nodeClaimsGroup}/${version}/nodeclaims`;

const effect =
  "so drifted nodes are held, too, a launch whose event is lost is found by its node, and hold=auto holds like hold=20m";

export type KubernetesNodeClaimsOptions = Readonly<{
  api: KubernetesCaller;
  karpenter: KarpenterGeneration;
  nodePools: NodePoolFilter;
  pageSize?: number;
}>;

const moment = v.pipe(
  v.string(),
  v.transform((text) => new Date(text)),
  v.date(),
);
const conditionSchema = v.object({ type: v.string(), status: v.string(), lastTransitionTime: moment });

/** Records name instances and nodes: one with a longer name could not be written, and no pass over its scope would end. */
const noLongerThan = (most: number) => v.optional(v.fallback(v.pipe(v.string(), v.maxLength(most)), ""), "");

const nodeClaimSchema = v.object({
  metadata: v.object({
    name: v.string(),
    creationTimestamp: moment,
    deletionTimestamp: v.nullish(v.string()),
    labels: v.nullish(v.record(v.string(), v.string()), {}),
  }),
  spec: v.optional(
    v.object({
      taints: v.nullish(
        v.array(v.object({ key: v.string(), value: v.nullish(v.string(), ""), effect: v.string() })),
        [],
      ),
    }),
    { taints: [] },
  ),
  status: v.optional(
    v.object({
      providerID: noLongerThan(300),
      nodeName: noLongerThan(253),
      allocatable: v.nullish(v.record(v.string(), v.union([v.string(), v.number()])), {}),
      conditions: v.nullish(v.array(conditionSchema), []),
    }),
    {},
  ),
});

/** Reads Karpenter's NodeClaims. */
export class KubernetesNodeClaims implements NodeClaims {
  readonly #options: KubernetesNodeClaimsOptions;

  constructor(options: KubernetesNodeClaimsOptions) {
    this.#options = options;
  }

  /** A cluster that refuses the read or has no NodeClaims is a result; any other failure is an error. */
  async list(scope: Scope, context: CallContext): Promise<readonly NodeClaim[] | Unavailable> {
    const { karpenter, nodePools } = this.#options;
    const ofScope = selectors(karpenter, nodePools).ofPools(scope);
    if (ofScope === undefined) return [];
    if (karpenter === "v0.31") return { unavailable: `Karpenter before v0.32 has no NodeClaims, ${effect}` };
    const found: NodeClaim[] = [];
    try {
      for await (const claim of this.#claims(selectorText(ofScope), context))
        if (!claim.isDeleted) found.push(claim);
      return found;
    } catch (error) {
      if (isStatus(error, 403)) {
        const unavailable = `the holder may not list NodeClaims, ${effect}`;
        return { unavailable, isMissingRight: true };
      }
      if (isStatus(error, 404)) return { unavailable: `the cluster has no NodeClaims, ${effect}` };
      throw error;
    }
  }

  async *#claims(labelSelector: string, context: CallContext): AsyncGenerator<NodeClaim, void, undefined> {
    const { poolLabel } = Karpenter[this.#options.karpenter];
    for await (const { version, claim } of this.#listServed({ labelSelector }, context)) {
      const { metadata, spec, status } = claim;
      const { providerID, nodeName, conditions, allocatable } = status;
      const since = (condition: string) =>
        conditions.find(({ type, status }) => type === condition && status === "True")?.lastTransitionTime;
      const [openedAt, driftedAt] = [since("Initialized"), since("Drifted")];
      const quietSince = since("Consolidatable");
      const consolidatable = quietSince ? { since: quietSince } : ("not yet" as const);
      yield {
        name: metadata.name,
        nodePool: metadata.labels[poolLabel] ?? "",
        createdAt: metadata.creationTimestamp,
        ...(openedAt && { openedAt }),
        ...(driftedAt && { driftedAt }),
        ...(version === "v1" && { consolidatable }),
        ...(metadata.deletionTimestamp && { isDeleted: true as const }),
        ...(providerID && { instance: instanceIn(providerID) }),
        ...(nodeName && { node: nodeName }),
        room: {
          isOpen: !metadata.deletionTimestamp && !!openedAt && !since("DisruptionReason"),
          allocatable: readResources(allocatable),
          labels: metadata.labels,
          taints: spec.taints,
        },
      };
    }
  }

  async *#listServed(query: Readonly<Record<string, string>>, context: CallContext) {
    const { api, pageSize = 250 } = this.#options;
    const list = async function* (version: Version) {
      const claims = { path: nodeClaimsPath(version), query, schema: nodeClaimSchema, pageSize };
      for await (const claim of itemsOf(api, claims, context)) yield { version, claim };
    };
    try {
      yield* list("v1");
    } catch (error) {
      if (!isStatus(error, 404)) throw error;
      yield* list("v1beta1");
    }
  }
}
