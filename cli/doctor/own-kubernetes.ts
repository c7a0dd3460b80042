import * as v from "valibot";
import { KubernetesAccess } from "../../lambda/cluster-access/cluster-rights.ts";
import { after, seconds } from "../../lambda/core/duration.ts";
import { isIneffective, Karpenter } from "../../lambda/core/marks/keys.ts";
import type { CallContext } from "../../lambda/core/ports.ts";
import { type KubernetesCaller, KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { isStatus } from "../../lambda/kubernetes/error.ts";
import { kubeconfigLogin } from "../../lambda/kubernetes/kubeconfig-login.ts";
import { type PageQuery, pagesOf } from "../../lambda/kubernetes/node-lists.ts";
import { readKubeconfig } from "../../local/run/kubeconfig.ts";
import type { Doctor, IneffectiveTemplate } from "./doctor.ts";

const noLog = { info: () => {}, warn: () => {}, error: () => {} };
const clock = { now: () => new Date() };

/** What only the caller's own rights in the cluster can show. */
export function ownKubernetes(
  path: string,
  context: string | undefined,
): Required<Pick<Doctor, "compareManifest" | "findIneffectiveTemplates">> {
  const config = readKubeconfig({ paths: [path], context });
  const using = async <T>(work: (api: KubernetesClient) => Promise<T>): Promise<T> => {
    const api = new KubernetesClient({ login: kubeconfigLogin(config), clock, metrics: { add: () => {} } });
    try {
      return await work(api);
    } finally {
      await api.close();
    }
  };
  return {
    compareManifest: (annotation, letGo) =>
      using((api) => new KubernetesAccess({ api, clock, log: noLog, letGo }).check([annotation])),
    findIneffectiveTemplates: () =>
      using((api) => ineffectiveTemplates(api, { deadline: after(clock.now(), seconds(30)) })),
  };
}

const { annotation } = Karpenter.v1;
/** Karpenter before v1.0 serves none of this version, and there any value protects. */
const path = "/apis/karpenter.sh/v1/nodepools";

const metadata = v.object({ annotations: v.optional(v.record(v.string(), v.string()), {}) });
const nodePool = v.object({
  metadata: v.object({ name: v.string() }),
  spec: v.object({ template: v.object({ metadata: v.optional(metadata, { annotations: {} }) }) }),
});

/** The NodePools that annotate their nodes with a value that protects nothing. */
export async function ineffectiveTemplates(
  api: KubernetesCaller,
  context: Pick<CallContext, "deadline">,
): Promise<readonly IneffectiveTemplate[]> {
  const ask = (query: PageQuery) => api.call({ method: "GET", path, query }, context);
  const found: IneffectiveTemplate[] = [];
  try {
    for await (const { items } of pagesOf(ask, 250)) {
      for (const item of items) {
        const { success, output } = v.safeParse(nodePool, item);
        const value = success ? output.spec.template.metadata.annotations[annotation] : undefined;
        if (success && isIneffective(annotation, value))
          found.push({ nodePool: output.metadata.name, value });
      }
    }
    return found;
  } catch (error) {
    if (isStatus(error, 404)) return [];
    throw error;
  }
}
