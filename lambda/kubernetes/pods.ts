import * as v from "valibot";
import { TryAgainError } from "../core/errors.ts";
import type { CallContext, Pods, Unavailable } from "../core/ports.ts";
import type { KubernetesCaller } from "./client.ts";
import { isStatus } from "./error.ts";
import { forEachConcurrent } from "./for-each-concurrent.ts";
import { metadataListOnly, type PageQuery, pagesOf } from "./node-lists.ts";

export type KubernetesPodsOptions = Readonly<{ api: KubernetesCaller; pageSize?: number }>;

const path = "/api/v1/pods";
const unfinished = "status.phase!=Succeeded,status.phase!=Failed";
/** Looks have time, and the API server has other clients. */
const nodesAtOnce = 4;

const podSchema = v.object({
  metadata: v.object({
    annotations: v.nullish(v.record(v.string(), v.string()), {}),
    ownerReferences: v.nullish(v.array(v.object({ apiVersion: v.string(), kind: v.string() })), []),
  }),
});

const noRight: Unavailable = {
  unavailable:
    "the holder may not list pods, so no empty node is let go; the manifest for letGo=empty has this right",
  isMissingRight: true,
};

/** Reads which nodes have pods, from the pods' metadata alone. */
export class KubernetesPods implements Pods {
  readonly #options: KubernetesPodsOptions;

  constructor(options: KubernetesPodsOptions) {
    this.#options = options;
  }

  busyNodes(names: readonly string[], context: CallContext): Promise<ReadonlySet<string> | Unavailable> {
    return unlessRefused(async () => {
      const busy = new Set<string>();
      await forEachConcurrent(names, nodesAtOnce, async (name) => {
        if (await this.#isBusy(name, context)) busy.add(name);
      });
      return busy;
    });
  }

  async limits(context: CallContext): Promise<readonly string[]> {
    const found = await unlessRefused(() => this.#list({ limit: "1" }, context));
    return found === noRight ? [noRight.unavailable] : [];
  }

  async #isBusy(node: string, context: CallContext): Promise<boolean> {
    const { pageSize = 50 } = this.#options;
    const fieldSelector = `spec.nodeName=${node},${unfinished}`;
    const ask = (page: PageQuery) => this.#list({ fieldSelector, ...page }, context);
    for await (const { items } of pagesOf(ask, pageSize)) {
      if (items.some(counts)) return true;
    }
    return false;
  }

  #list(query: Readonly<Record<string, string>>, context: CallContext): Promise<unknown> {
    return this.#options.api.call({ method: "GET", path, query, accept: metadataListOnly }, context);
  }
}

async function unlessRefused<T>(work: () => Promise<T>): Promise<T | typeof noRight> {
  try {
    return await work();
  } catch (error) {
    if (isStatus(error, 403)) return noRight;
    throw error;
  }
}

/** Karpenter takes the same pods for part of the node: DaemonSets of other groups than Kubernetes' own count. */
function counts(pod: unknown): boolean {
  const { success, output, issues } = v.safeParse(podSchema, pod);
  if (!success) throw new TryAgainError(`${path}: ${v.summarize(issues)}`);
  const { annotations, ownerReferences } = output.metadata;
  const isStatic = "kubernetes.io/config.mirror" in annotations;
  return !isStatic && !ownerReferences.some((owner) => isDaemonSet(owner));
}

const isDaemonSet = ({ apiVersion, kind }: Readonly<{ apiVersion: string; kind: string }>): boolean =>
  kind === "DaemonSet" && apiVersion === "apps/v1";
