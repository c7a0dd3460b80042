import { isHoldId } from "../../lambda/core/marks/hold-id.ts";
import { holderName, holdLabel, Karpenter } from "../../lambda/core/marks/keys.ts";
import type { Metrics } from "../../lambda/core/ports.ts";
import { type KubernetesCaller, KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { isStatus } from "../../lambda/kubernetes/error.ts";
import { KubernetesNodes } from "../../lambda/kubernetes/nodes.ts";
import type { ClusterAccess, ClusterLogin } from "../../lambda/kubernetes/transport.ts";
import { within } from "../support/context.ts";
import { AnnotationWatch } from "./annotation-watch.ts";
import type { NodesOptions, NodesWorld } from "./nodes-world.ts";

const clock = { now: () => new Date() };
const noMetrics: Metrics = { add: () => {} };
const soon = () => within(120_000);
const pathOf = (name: string) => `/api/v1/nodes/${name}`;

/** A login that is ready at once. */
export const knownAccess = (access: ClusterAccess): ClusterLogin => ({
  access: async () => access,
  refresh: () => {},
});

export const clientOf = (access: ClusterAccess, metrics = noMetrics) =>
  new KubernetesClient({ login: knownAccess(access), clock, metrics });

/** The contract's view of a cluster behind an API server: `admin` prepares it, the port works as `holder`. */
export async function clusterNodesWorld(
  admin: ClusterAccess,
  holder: ClusterAccess,
  options: NodesOptions & Readonly<{ pageSize?: number }>,
): Promise<NodesWorld> {
  const { karpenter = "v1", nodePools = { only: [], except: [] }, pageSize = 2 } = options;
  const { annotation: standard, poolLabel, registeredLabel } = Karpenter[karpenter];
  const annotation = options.annotation ?? standard;
  const cluster = clientOf(admin);
  const client = clientOf(holder);
  const actions = new Map<string, () => Promise<void>>();
  const api: KubernetesCaller = {
    call: async (call, context) => {
      const action = call.method === "PATCH" ? actions.get(call.path) : undefined;
      if (action) actions.delete(call.path);
      await action?.();
      return client.call(call, context);
    },
  };
  const remove = async (name: string) => {
    await cluster.call({ method: "DELETE", path: pathOf(name) }, soon()).catch((error: unknown) => {
      if (!isStatus(error, 404)) throw error;
    });
  };
  const read = async (name: string) => {
    const node = (await cluster.call({ method: "GET", path: pathOf(name) }, soon())) as {
      metadata: {
        labels?: Record<string, string>;
        annotations?: Record<string, string>;
        resourceVersion: string;
      };
    };
    return node.metadata;
  };
  const watch = await AnnotationWatch.open(admin, annotation);
  const added = new Set<string>();
  return {
    nodes: new KubernetesNodes({
      api,
      karpenter,
      annotation,
      nodePools,
      metrics: noMetrics,
      pageSize,
    }),
    add: async (name, { pool = "default", providerId = "", labels = {}, annotations } = {}) => {
      const metadata = {
        name,
        annotations,
        labels: {
          ...labels,
          ...(pool !== null && { [poolLabel]: pool }),
          [registeredLabel]: "true",
        },
      };
      const body = { apiVersion: "v1", kind: "Node", metadata, spec: { providerID: providerId } };
      // A node with a mark got it from the holder.
      const query = { fieldManager: isHoldId(labels[holdLabel]) ? holderName : "kubelet" };
      await cluster.call({ method: "POST", path: "/api/v1/nodes", query, body }, soon());
      added.add(name);
    },
    remove,
    edit: async (name, kind, key, value, fieldManager = "kubectl") => {
      const body = { metadata: { [kind]: { [key]: value ?? null } } };
      const contentType = "application/merge-patch+json";
      const query = { fieldManager };
      await cluster.call({ method: "PATCH", path: pathOf(name), query, contentType, body }, soon());
    },
    read: async (name) => {
      const { labels = {}, annotations = {} } = await read(name);
      return { labels, annotations };
    },
    history: async (name) => watch.history(name, (await read(name)).resourceVersion),
    beforeNextPatch: (name, action) => actions.set(pathOf(name), action),
    close: async () => {
      await watch.close();
      await Promise.all([...added].map(remove));
      await Promise.all([cluster.close(), client.close()]);
    },
  };
}
