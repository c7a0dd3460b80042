import * as v from "valibot";
import { isAsWritten } from "../../lambda/cluster-access/cluster-rights.ts";
import { accessManifest, type RightsOptions } from "../../lambda/cluster-access/manifest.ts";
import { after, seconds } from "../../lambda/core/duration.ts";
import type { CallContext } from "../../lambda/core/ports.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { isStatus, isUnknownKind } from "../../lambda/kubernetes/error.ts";
import { readKubeconfig } from "../../local/run/kubeconfig.ts";
import { kubeconfigLogin } from "../../local/run/kubeconfig-login.ts";
import type { NodePool } from "../advise/objects.ts";
import { listAll, lists, withKubernetes } from "../advise/read.ts";

/** The state of one of our objects in the cluster. */
export type AccessFinding = Readonly<{
  kind: string;
  state: "right" | "different" | "missing" | "unknown to this cluster";
}>;

type ManifestSettings = Pick<Rules, "holdAnnotation"> & RightsOptions;

/** What only the caller's own rights in the cluster can show. */
export type OwnKubernetes = Awaited<ReturnType<typeof ownKubernetes>>;

export async function ownKubernetes(path: string, context: string | undefined) {
  const login = kubeconfigLogin(readKubeconfig({ paths: [path], context }));
  // A login that fails is a mistake of the call, like a file that cannot be read.
  const { server } = await login.access();
  const using = <T>(work: (api: KubernetesCaller, context: Deadline) => Promise<T>): Promise<T> =>
    withKubernetes(login, (api) => work(api, { deadline: after(new Date(), seconds(30)) }));
  return {
    /** The address of the cluster, which may be another than the holder's. */
    server,
    compareManifest: (settings: ManifestSettings) =>
      using((api, context) => compareManifest(api, settings, context)),
    findNodePools: () => using(nodePools),
    /** The CapacityBuffers by namespace and name. */
    findCapacityBuffers: () => using(capacityBuffers),
  };
}

type Deadline = Pick<CallContext, "deadline">;

/** Compares what is in the cluster with what we would write there. */
export const compareManifest = (
  api: KubernetesCaller,
  { holdAnnotation, ...rights }: ManifestSettings,
  context: Deadline,
): Promise<readonly AccessFinding[]> =>
  Promise.all(
    accessManifest(holdAnnotation, rights).map(async ({ path, object, needsPolicies }) => {
      const kind = object.kind ?? "";
      try {
        const found = await api.call({ method: "GET", path }, context);
        return { kind, state: isAsWritten(found, object) ? "right" : "different" };
      } catch (error) {
        if (!isStatus(error, 404)) throw error;
        const isUnknown = needsPolicies && isUnknownKind(error);
        return { kind, state: isUnknown ? "unknown to this cluster" : "missing" };
      }
    }),
  );

/** The NodePools of Karpenter 1.0 and later. */
export async function nodePools(api: KubernetesCaller, context: Deadline): Promise<readonly NodePool[]> {
  const [, path, schema] = lists.nodePools;
  return listAll(api, { path }, schema, context).catch(noneIf(404));
}

const capacityBuffer = v.object({ metadata: v.object({ namespace: v.string(), name: v.string() }) });
const bufferPath = "/apis/autoscaling.x-k8s.io/v1beta1/capacitybuffers";

/** The CapacityBuffers; none where the cluster has no such kind, or the caller may not list them. */
export async function capacityBuffers(api: KubernetesCaller, context: Deadline): Promise<readonly string[]> {
  const buffers = await listAll(api, { path: bufferPath }, capacityBuffer, context).catch(noneIf(403, 404));
  return buffers.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
}

const noneIf =
  (...statuses: readonly number[]) =>
  (error: unknown): readonly never[] => {
    if (isStatus(error, ...statuses)) return [];
    throw error;
  };
