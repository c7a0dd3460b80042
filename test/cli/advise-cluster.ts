import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, hours } from "../../lambda/core/duration.ts";
import { FakeKubernetesServer } from "../../simulator/fake-kubernetes/fake-kubernetes-server.ts";
import type { Json } from "../../simulator/fake-kubernetes/objects.ts";
import { newFolder } from "../support/new-folder.ts";
import { typed } from "../support/typed.ts";

export type NodePoolGiven = Readonly<{
  name: string;
  annotations?: Readonly<Record<string, string>>;
  template?: Readonly<Record<string, string>>;
  expireAfter?: string;
  disruption?: Readonly<Record<string, unknown>>;
  replicas?: number;
  nodeClass?: string;
}>;

export const aNodePool = (given: NodePoolGiven) => ({
  metadata: { name: given.name, ...(given.annotations && { annotations: given.annotations }) },
  spec: {
    ...(given.replicas !== undefined && { replicas: given.replicas }),
    ...(given.disruption && { disruption: given.disruption }),
    template: {
      ...(given.template && { metadata: { annotations: given.template } }),
      spec: {
        ...(given.expireAfter !== undefined && { expireAfter: given.expireAfter }),
        ...(given.nodeClass !== undefined && { nodeClassRef: { group: given.nodeClass } }),
      },
    },
  },
});

/** A moment so long before now, as the API server writes it. */
export const ago = (duration: number): string =>
  after(new Date(), -duration)
    .toISOString()
    .replace(/\.\d+Z$/, "Z");

type NodeGiven = Readonly<{
  name: string;
  pool?: string;
  age?: number;
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
}>;

export const aNode = ({
  name,
  pool = "default",
  age = hours(1),
  labels = {},
  annotations = {},
}: NodeGiven) => ({
  metadata: {
    name,
    creationTimestamp: ago(age),
    labels: { "karpenter.sh/nodepool": pool, ...labels },
    annotations,
  },
  spec: { providerID: `aws:///eu-central-1a/i-${name}` },
  status: { allocatable: { cpu: "8", memory: "30Gi", pods: "110" } },
});

export const aClaim = ({
  name,
  pool = "default",
  age = hours(1),
  expireAfter,
}: NodeGiven & { expireAfter?: string }) => ({
  metadata: { name, creationTimestamp: ago(age), labels: { "karpenter.sh/nodepool": pool } },
  spec: { expireAfter },
});

export const anEvent = (kind: string, name: string, reason: string, message: string, age: number) => ({
  ...{ reason, message, lastTimestamp: ago(age) },
  involvedObject: { kind, name, ...(kind === "Pod" && { namespace: "default" }) },
});

type PodGiven = Readonly<{
  name: string;
  node: string;
  cpu?: string;
  age?: number;
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
}>;

export const aPod = ({ name, node, cpu = "1", age = hours(1), labels = {}, annotations = {} }: PodGiven) => ({
  metadata: { name, namespace: "default", labels, annotations },
  spec: { nodeName: node, containers: [{ name: "main", resources: { requests: { cpu } } }] },
  status: { startTime: ago(age) },
});

/** Karpenter's own pod, by the labels of its chart. */
export const karpentersPod = (version = "1.15.0") => ({
  metadata: {
    name: "karpenter-0",
    namespace: "karpenter",
    labels: { "app.kubernetes.io/name": "karpenter" },
  },
  spec: { nodeName: "system", containers: [{ name: "controller" }] },
  status: {
    containerStatuses: [
      {
        ...{ name: "controller", image: `public.ecr.aws/karpenter/controller:${version}` },
        state: { running: { startedAt: ago(hours(30)) } },
      },
    ],
  },
});

const paths = {
  nodePools: "/apis/karpenter.sh/v1/nodepools",
  nodeClaims: "/apis/karpenter.sh/v1/nodeclaims",
  nodes: "/api/v1/nodes",
  pods: "/api/v1/pods",
  pdbs: "/apis/policy/v1/poddisruptionbudgets",
  jobs: "/apis/batch/v1/jobs",
  events: "/api/v1/events",
} as const;
const texts = {
  log: "/api/v1/namespaces/karpenter/pods/karpenter-0/log",
  metrics: "/api/v1/namespaces/karpenter/pods/karpenter-0:8080/proxy/metrics",
} as const;

export type Served = Readonly<
  Partial<
    Record<keyof typeof paths | "eventsOfAutoMode", readonly unknown[]> &
      Record<keyof typeof texts, string> & { versions: readonly string[] }
  >
>;

/** A page of a list, as far as the query asks for. */
const pageOf = (items: readonly unknown[], query: URLSearchParams): Json => {
  const from = Number(query.get("continue") ?? 0);
  const until = from + Number(query.get("limit") ?? items.length);
  const metadata = until < items.length ? { continue: String(until) } : {};
  return { items: items.slice(from, until), metadata } as Json;
};

/** An API server with these objects; a kind that is not given is refused, as without the right. */
export async function clusterWith(
  served: Served,
): Promise<{ server: FakeKubernetesServer; kubeconfig: string }> {
  const server = await FakeKubernetesServer.start();
  const { versions = ["v1"], eventsOfAutoMode = [] } = served;
  if (versions.length > 0)
    server.serve("/apis/karpenter.sh", { versions: versions.map((version) => ({ version })) });
  for (const [kind, path] of Object.entries(paths)) {
    const items = served[kind as keyof typeof paths];
    const isOther = (query: URLSearchParams) => query.get("fieldSelector") === "source=eks-auto-mode/compute";
    const select = (query: URLSearchParams) => (isOther(query) ? eventsOfAutoMode : (items ?? []));
    const isUnknown = path.includes("/karpenter.sh/") && !versions.includes("v1");
    if (items) server.serve(path, (query) => pageOf(select(query), query));
    else if (!isUnknown) server.fail({ kind: "status", status: 403 }, { path }, 9);
  }
  for (const [kind, path] of Object.entries(texts)) {
    const text = served[kind as keyof typeof texts];
    if (text !== undefined) server.serve(path, text);
    else server.fail({ kind: "status", status: 403 }, { path }, 9);
  }
  const kubeconfig = join(newFolder(), "kubeconfig");
  writeFileSync(kubeconfig, server.kubeconfig());
  return { server, kubeconfig };
}

/** Runs the command, and returns what it printed. */
export const advise = (...words: readonly string[]) => typed(["advise", ...words]);

/** The same on a cluster with these objects. */
export async function adviseOn(served: Served, ...words: readonly string[]) {
  const { server, kubeconfig } = await clusterWith(served);
  try {
    return await advise("--kubeconfig", kubeconfig, "--time-zone", "UTC", ...words);
  } finally {
    await server.stop();
  }
}

/** Everything that can be read of a cluster in which nothing happened. */
export const readable = {
  nodePools: [aNodePool({ name: "default" })],
  nodeClaims: [],
  nodes: [],
  pods: [karpentersPod()],
  ...{ pdbs: [], jobs: [], events: [] },
};
