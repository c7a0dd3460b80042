import * as v from "valibot";
import { KubernetesAccess } from "../../lambda/cluster-access/cluster-rights.ts";
import { after, seconds } from "../../lambda/core/duration.ts";
import type { CallContext } from "../../lambda/core/ports.ts";
import { type KubernetesCaller, KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { isStatus } from "../../lambda/kubernetes/error.ts";
import { kubeconfigLogin } from "../../lambda/kubernetes/kubeconfig-login.ts";
import { type PageQuery, pagesOf } from "../../lambda/kubernetes/node-lists.ts";
import { readKubeconfig } from "../../local/run/kubeconfig.ts";
import { type NodePool, nodePoolSchema } from "../advise/objects.ts";
import type { Doctor } from "./doctor.ts";

const noLog = { info: () => {}, warn: () => {}, error: () => {} };
const clock = { now: () => new Date() };

/** What only the caller's own rights in the cluster can show. */
export function ownKubernetes(
  path: string,
  context: string | undefined,
): Required<Pick<Doctor, "compareManifest" | "findNodePools" | "findCapacityBuffers">> {
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
    compareManifest: (annotation, rights) =>
      using((api) => new KubernetesAccess({ api, clock, log: noLog, ...rights }).check([annotation])),
    findNodePools: () => using((api) => nodePools(api, soon())),
    findCapacityBuffers: () => using((api) => capacityBuffers(api, soon())),
  };
}

type Deadline = Pick<CallContext, "deadline">;
const soon = (): Deadline => ({ deadline: after(clock.now(), seconds(30)) });

/** The NodePools of Karpenter 1.0 and later; before that, any value of the annotation protects. */
export const nodePools = (api: KubernetesCaller, context: Deadline): Promise<readonly NodePool[]> =>
  listAll(api, "/apis/karpenter.sh/v1/nodepools", nodePoolSchema, context);

const capacityBuffer = v.object({ metadata: v.object({ namespace: v.string(), name: v.string() }) });

/** The CapacityBuffers by namespace and name; none where the caller may not list them. */
export async function capacityBuffers(api: KubernetesCaller, context: Deadline): Promise<readonly string[]> {
  try {
    const path = "/apis/autoscaling.x-k8s.io/v1beta1/capacitybuffers";
    const buffers = await listAll(api, path, capacityBuffer, context);
    return buffers.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  } catch (error) {
    if (isStatus(error, 403)) return [];
    throw error;
  }
}

/** Every object that the schema can read; none where the cluster does not have this kind. */
async function listAll<T>(
  api: KubernetesCaller,
  path: string,
  schema: v.GenericSchema<unknown, T>,
  context: Deadline,
): Promise<readonly T[]> {
  const ask = (query: PageQuery) => api.call({ method: "GET", path, query }, context);
  const found: T[] = [];
  try {
    for await (const { items } of pagesOf(ask, 250)) {
      for (const item of items) {
        const { success, output } = v.safeParse(schema, item);
        if (success) found.push(output);
      }
    }
    return found;
  } catch (error) {
    if (isStatus(error, 404)) return [];
    throw error;
  }
}
