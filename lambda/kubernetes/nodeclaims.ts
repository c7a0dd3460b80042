import * as v from "valibot";
import { TryAgainError } from "../core/errors.ts";
import type { KarpenterGeneration } from "../core/marks/keys.ts";
import type { CallContext, NodeClaim, NodeClaims, Replacement, Unavailable } from "../core/ports.ts";
import type { NodePoolFilter, Scope } from "../core/scope.ts";
import type { KubernetesCaller } from "./client.ts";
import { isStatus } from "./error.ts";
import { type PageQuery, pagesOf, selectors, selectorText } from "./node-lists.ts";
import { instanceIn } from "./node-objects.ts";
import { asksForMore, type Chosen, type Launched, resourcesSchema } from "./replacement-plan.ts";

/** Events of objects without a namespace are kept in this one. */
export const eventsNamespace = "default";
export const nodeClaimsGroup = "karpenter.sh";
export const replacementReason = "DisruptionLaunching";
const eventsPath = `/api/v1/namespaces/${eventsNamespace}/events`;
/** Karpenter before v1.0 serves the second one alone. */
type Version = "v1" | "v1beta1";
const nodeClaimsPath = (version: Version) => `/apis/${nodeClaimsGroup}/${version}/nodeclaims`;

const allDemand = "so every launch counts as demand";
const launchesAlone = "so launches alone extend a hold";
const noUse: Unavailable = {
  unavailable: `Karpenter before v1.0 does not record when nodes are used, ${launchesAlone}`,
};

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
const metadata = { name: v.string(), creationTimestamp: moment };

/** Anyone may write an event, also one about an object without a name. */
const eventSchema = v.object({
  metadata: v.object({ creationTimestamp: moment }),
  involvedObject: v.object({ name: v.optional(v.string(), "") }),
});

const conditionSchema = v.object({ type: v.string(), status: v.string(), lastTransitionTime: moment });

const nodeClaimSchema = v.object({
  metadata: v.object({ ...metadata, deletionTimestamp: v.optional(v.string()) }),
  spec: v.optional(v.object({ resources: v.optional(v.object({ requests: resourcesSchema }), {}) }), {}),
  status: v.optional(
    v.object({
      providerID: v.optional(v.string(), ""),
      nodeName: v.optional(v.string(), ""),
      lastPodEventTime: v.nullish(moment),
      allocatable: resourcesSchema,
      conditions: v.optional(v.array(conditionSchema), []),
    }),
    {},
  ),
});

/** Reads Karpenter's NodeClaims, and its events about those that replace other nodes. */
export class KubernetesNodeClaims implements NodeClaims {
  readonly #options: KubernetesNodeClaimsOptions;
  #version: Version = "v1";

  constructor(options: KubernetesNodeClaimsOptions) {
    this.#options = options;
  }

  async replacements(
    since: Date,
    known: ReadonlySet<string>,
    context: CallContext,
  ): Promise<readonly Replacement[] | Unavailable> {
    return this.#unlessRefused(allDemand, async () => {
      const named = new Set<string>();
      for await (const { involvedObject, metadata } of this.#replacementEvents({}, context)) {
        const { name } = involvedObject;
        if (name !== "" && metadata.creationTimestamp >= since) named.add(name);
      }
      return this.#find(named, known, context);
    });
  }

  async ofScope(scope: Scope, context: CallContext): Promise<readonly NodeClaim[] | Unavailable> {
    return this.#unlessRefused(launchesAlone, async () => {
      const { karpenter, nodePools } = this.#options;
      const ofScope = selectors(karpenter, nodePools).ofPools(scope);
      if (ofScope === undefined) return [];
      const labelSelector = selectorText(ofScope);
      const found: NodeClaim[] = [];
      for await (const claim of this.#claims({ labelSelector }, context)) {
        if (!claim.isDeleted) found.push(claim);
      }
      // Asked after the list, which finds out which version is served.
      return this.#version === "v1" ? found : noUse;
    });
  }

  async #find(
    named: ReadonlySet<string>,
    known: ReadonlySet<string>,
    context: CallContext,
  ): Promise<readonly Replacement[]> {
    if ([...named].every((name) => known.has(name))) return [];
    const launched: (Launched & Replacement)[] = [];
    const chosen: Chosen[] = [];
    for await (const { metadata, spec, status } of this.#listServed({}, context)) {
      const { name: nodeClaim, creationTimestamp: at } = metadata;
      const { providerID, allocatable, conditions } = status;
      const trueSince = (type: string) =>
        conditions.find((one) => one.type === type && one.status === "True")?.lastTransitionTime;
      const chosenAt = trueSince("DisruptionReason");
      if (chosenAt) chosen.push({ at: chosenAt, allocatable });
      if (!named.has(nodeClaim)) continue;
      const isInitialized = trueSince("Initialized") !== undefined;
      const { requests } = spec.resources;
      const instance = providerID && { instance: instanceIn(providerID) };
      launched.push({ nodeClaim, at, isInitialized, requests, ...instance });
    }
    return launched
      .filter(({ nodeClaim }) => !known.has(nodeClaim))
      .map((one) => ({
        nodeClaim: one.nodeClaim,
        ...(one.instance && { instance: one.instance }),
        ...(asksForMore(one, launched, chosen) && { isForMore: true as const }),
      }));
  }

  #replacementEvents(query: Query, context: CallContext) {
    const fieldSelector = `reason=${replacementReason},involvedObject.kind=NodeClaim`;
    return this.#list(eventsPath, { ...query, fieldSelector }, eventSchema, context);
  }

  async *#claims(query: Query, context: CallContext): AsyncGenerator<NodeClaim, void, undefined> {
    for await (const { metadata, status } of this.#listServed(query, context)) {
      const { providerID, nodeName, lastPodEventTime, conditions } = status;
      const since = (condition: string) =>
        conditions.find(({ type, status }) => type === condition && status === "True")?.lastTransitionTime;
      const [joinedAt, driftedAt] = [since("Registered"), since("Drifted")];
      yield {
        name: metadata.name,
        createdAt: metadata.creationTimestamp,
        ...(joinedAt && { joinedAt }),
        ...(driftedAt && { driftedAt }),
        ...(metadata.deletionTimestamp && { isDeleted: true as const }),
        ...(providerID && { instance: instanceIn(providerID) }),
        ...(nodeName && { node: nodeName }),
        ...(lastPodEventTime && { lastPodEventAt: lastPodEventTime }),
      };
    }
  }

  async *#listServed(query: Query, context: CallContext) {
    const list = (version: Version) => this.#list(nodeClaimsPath(version), query, nodeClaimSchema, context);
    // Lists that run at the same time must not change the version to and fro.
    const asked = this.#version;
    try {
      yield* list(asked);
    } catch (error) {
      if (!isStatus(error, 404)) throw error;
      const other = asked === "v1" ? "v1beta1" : "v1";
      this.#version = other;
      yield* list(other);
    }
  }

  async *#list<T>(
    path: string,
    query: Query,
    schema: v.GenericSchema<unknown, T>,
    context: CallContext,
  ): AsyncGenerator<T, void, undefined> {
    const { api, pageSize = 250 } = this.#options;
    const ask = (page: PageQuery) => api.call({ method: "GET", path, query: { ...page, ...query } }, context);
    for await (const { items } of pagesOf(ask, pageSize)) {
      for (const item of items) {
        const { success, output, issues } = v.safeParse(schema, item);
        if (!success) throw new TryAgainError(`${path}: ${v.summarize(issues)}`);
        yield output;
      }
    }
  }

  async limits(context: CallContext): Promise<readonly string[]> {
    const answers = [
      await this.#unlessRefused(allDemand, () => readFirst(this.#replacementEvents(first, context))),
      await this.#unlessRefused(launchesAlone, async () => {
        await readFirst(this.#claims(first, context));
        return this.#version === "v1" ? undefined : noUse;
      }),
    ];
    return answers.flatMap((answer) => (typeof answer === "object" ? answer.unavailable : []));
  }

  /** A cluster that refuses the read or has no NodeClaims is a result; any other failure is an error. */
  async #unlessRefused<T>(effect: string, work: () => Promise<T>): Promise<T | Unavailable> {
    if (this.#options.karpenter === "v0.31")
      return { unavailable: `Karpenter before v0.32 has no NodeClaims, ${effect}` };
    try {
      return await work();
    } catch (error) {
      if (isStatus(error, 403)) {
        const unavailable = `the holder may not list NodeClaims and events, ${effect}`;
        return { unavailable, isMissingRight: true };
      }
      if (isStatus(error, 404)) return { unavailable: `the cluster has no NodeClaims, ${effect}` };
      throw error;
    }
  }
}

type Query = Readonly<Record<string, string>>;

const first: Query = { limit: "1" };

async function readFirst(list: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of list) return;
}
