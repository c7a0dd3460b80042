import { globSync } from "node:fs";
import { join } from "node:path";
import { buildKarpenter, buildKubelet, newestKarpenter, program } from "./build.ts";
import type { ControlPlane } from "./control-plane.ts";
import { onFreePorts } from "./ports.ts";
import type { Started } from "./processes.ts";

/** The properties in which the NodePools of these tests differ. */
export type NodePool = Readonly<{
  name: string;
  consolidateAfter?: string;
  consolidationPolicy?: "WhenEmpty" | "WhenEmptyOrUnderutilized" | "Balanced";
  expireAfter?: string;
  budgets?: readonly Readonly<Record<string, unknown>>[];
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
  /** The instance types it may launch; all by default. */
  types?: readonly string[];
  startupTaints?: readonly Readonly<Record<string, string>>[];
  terminationGracePeriod?: string;
  /** The number of nodes of a static pool, which Karpenter 1.8 and later keep without any pod. */
  replicas?: number;
  /** The time from a node's launch until it joins, zero by default; the same for all pools of a cluster. */
  joinsAfter?: string | undefined;
}>;

/** Scheduler, controllers, a kubelet for every node, and Karpenter itself, on a control plane. */
export async function startKarpenter(plane: ControlPlane, version = newestKarpenter): Promise<void> {
  const stages = await buildKubelet();
  const crds = await buildKarpenter(version);
  await applyCrds(plane, crds);
  await onFreePorts(5, async (ports) => {
    const started = startAll(plane, version, stages, ports);
    const health = `http://127.0.0.1:${ports[4]}/healthz`;
    try {
      await plane.processes.until("Karpenter to be healthy", () => isOk(health));
    } catch (error) {
      for (const each of started) await plane.processes.stop(each);
      throw error;
    }
  });
}

function startAll(plane: ControlPlane, version: string, stages: string, ports: readonly number[]): Started[] {
  const [scheduler, controllers, kubelet, metrics, health] = ports;
  const { processes, folder } = plane;
  const config = `--kubeconfig=${plane.kubeconfig("admin")}`;
  const serving = (name: string, port: number | undefined) => [
    "--leader-elect=false",
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    "--authentication-skip-lookup=true",
    `--cert-dir=${folder}/certs-${name}`,
  ];
  return [
    processes.start("kube-scheduler", program("kube-scheduler"), [
      config,
      ...serving("scheduler", scheduler),
    ]),
    processes.start("kube-controller-manager", program("kube-controller-manager"), [
      config,
      ...serving("controllers", controllers),
      "--use-service-account-credentials=false",
      "--controllers=deployment,replicaset,job,cronjob,garbagecollector,podgc,disruption,namespace",
    ]),
    processes.start("kubelet", program("kubelet"), [
      config,
      "--manage-all-nodes",
      `--server-address=127.0.0.1:${kubelet}`,
      ...stagesIn(stages).flatMap((file) => ["--config", file]),
    ]),
    processes.start("karpenter", program(`karpenter-${version}`), [], {
      ...karpenterSettings,
      KUBECONFIG: plane.kubeconfig("admin"),
      METRICS_PORT: String(metrics),
      HEALTH_PROBE_PORT: String(health),
    }),
  ];
}

/** What happens to nodes and pods. A pod with a grace period takes a second to stop. */
const stagesIn = (folder: string): readonly string[] => {
  const own = "pod-delete.yaml";
  const others = globSync("*.yaml", { cwd: folder }).filter((file) => file !== own);
  return [join(import.meta.dirname, own), ...others.map((file) => join(folder, file))];
};

const karpenterSettings = {
  DISABLE_LEADER_ELECTION: "true",
  LOG_LEVEL: "debug",
  CPU_REQUESTS: "1000",
  MEMORY_LIMIT: "-1",
  BATCH_IDLE_DURATION: "1s",
  BATCH_MAX_DURATION: "2s",
  PREFERENCE_POLICY: "Ignore",
  // Off by default; no effect without static pools and spot nodes. Versions without a gate ignore it.
  FEATURE_GATES: "NodeRepair=false,StaticCapacity=true,SpotToSpotConsolidation=true,CapacityBuffer=true",
  // 1.0 still has conversion webhooks, which need a Service in its namespace, and checks the Kubernetes version.
  DISABLE_WEBHOOK: "true",
  SYSTEM_NAMESPACE: "kube-system",
  KUBERNETES_MIN_VERSION: "1.19.0-0",
};

const isOk = (url: string): Promise<boolean> =>
  fetch(url).then(
    (answer) => answer.ok,
    () => false,
  );

async function applyCrds(plane: ControlPlane, folder: string): Promise<void> {
  await plane.kubectl(["apply", "--server-side", "-f", folder]);
  const crds = ["nodepools.karpenter.sh", "nodeclaims.karpenter.sh", "kwoknodeclasses.karpenter.kwok.sh"];
  const names = crds.map((crd) => `crd/${crd}`);
  await plane.kubectl(["wait", "--for=condition=Established", "--timeout=240s", ...names]);
}

/** A NodePool whose nodes Karpenter may consolidate at once, and the node class it needs. */
export function nodePool(pool: NodePool): readonly object[] {
  const requirement = (key: string, ...values: string[]) => ({ key, operator: "In", values });
  const {
    name,
    labels = {},
    annotations = {},
    types = [],
    startupTaints,
    terminationGracePeriod,
    joinsAfter,
    replicas,
  } = pool;
  const spec = {
    ...(replicas !== undefined && { replicas }),
    template: {
      metadata: { labels, annotations },
      spec: {
        requirements: [
          requirement("kubernetes.io/arch", "amd64"),
          requirement("kubernetes.io/os", "linux"),
          requirement("karpenter.sh/capacity-type", "on-demand"),
          ...(types.length > 0 ? [requirement("node.kubernetes.io/instance-type", ...types)] : []),
        ],
        nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
        expireAfter: pool.expireAfter ?? "Never",
        ...(startupTaints && { startupTaints }),
        ...(terminationGracePeriod && { terminationGracePeriod }),
      },
    },
    disruption: {
      consolidationPolicy: pool.consolidationPolicy ?? "WhenEmptyOrUnderutilized",
      consolidateAfter: pool.consolidateAfter ?? "0s",
      budgets: pool.budgets ?? [{ nodes: "100%" }],
    },
  };
  return [
    { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name }, spec },
    {
      apiVersion: "karpenter.kwok.sh/v1alpha1",
      kind: "KWOKNodeClass",
      metadata: { name: "default" },
      ...(joinsAfter && { spec: { nodeRegistrationDelay: joinsAfter } }),
    },
  ];
}
