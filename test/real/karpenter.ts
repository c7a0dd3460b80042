import { globSync } from "node:fs";
import { join } from "node:path";
import { buildKarpenter, buildKubelet, moduleFolder, newestKarpenter, program } from "./build.ts";
import type { ControlPlane } from "./control-plane.ts";
import { freePorts } from "./processes.ts";

export type NodePool = Readonly<{
  name: string;
  consolidateAfter?: string;
  consolidationPolicy?: "WhenEmpty" | "WhenEmptyOrUnderutilized";
  expireAfter?: string;
  budgets?: readonly Readonly<Record<string, unknown>>[];
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
}>;

/** Scheduler, controllers, a kubelet for every node, and Karpenter itself, on a control plane. */
export async function startKarpenter(plane: ControlPlane, version = newestKarpenter): Promise<void> {
  await buildKubelet();
  await buildKarpenter(version);
  const [scheduler, controllers, kubelet, metrics, health] = await freePorts(5);
  const config = `--kubeconfig=${plane.kubeconfig("admin")}`;
  const { processes, folder } = plane;
  processes.start("kube-scheduler", program("kube-scheduler"), [
    config,
    "--leader-elect=false",
    `--secure-port=${scheduler}`,
    "--bind-address=127.0.0.1",
    "--authentication-skip-lookup=true",
    `--cert-dir=${folder}/certs-scheduler`,
  ]);
  processes.start("kube-controller-manager", program("kube-controller-manager"), [
    config,
    "--leader-elect=false",
    `--secure-port=${controllers}`,
    "--bind-address=127.0.0.1",
    "--authentication-skip-lookup=true",
    `--cert-dir=${folder}/certs-controllers`,
    "--use-service-account-credentials=false",
    "--controllers=deployment,replicaset,job,cronjob,garbagecollector,podgc,disruption,namespace",
  ]);
  await applyCrds(plane, version);
  const stages = join(await moduleFolder("sigs.k8s.io/kwok"), "kustomize/stage");
  const files = globSync(["node/fast/node-*.yaml", "pod/fast/pod-*.yaml"], { cwd: stages });
  processes.start("kubelet", program("kubelet"), [
    config,
    "--manage-all-nodes",
    `--server-address=127.0.0.1:${kubelet}`,
    ...files.flatMap((file) => ["--config", join(stages, file)]),
  ]);
  processes.start("karpenter", program(`karpenter-${version}`), [], {
    KUBECONFIG: plane.kubeconfig("admin"),
    DISABLE_LEADER_ELECTION: "true",
    LOG_LEVEL: "debug",
    METRICS_PORT: String(metrics),
    HEALTH_PROBE_PORT: String(health),
    CPU_REQUESTS: "1000",
    MEMORY_LIMIT: "-1",
    BATCH_IDLE_DURATION: "1s",
    BATCH_MAX_DURATION: "2s",
    PREFERENCE_POLICY: "Ignore",
    // 1.0 still has conversion webhooks, which need a Service in its namespace.
    DISABLE_WEBHOOK: "true",
    SYSTEM_NAMESPACE: "kube-system",
    KUBERNETES_MIN_VERSION: "1.19.0-0",
    FEATURE_GATES: "NodeRepair=false",
  });
}

async function applyCrds(plane: ControlPlane, version: string): Promise<void> {
  const module = await moduleFolder(
    "sigs.k8s.io/karpenter",
    version === newestKarpenter ? undefined : version,
  );
  const folders = ["pkg/apis/crds", "kwok/apis/crds"].flatMap((folder) => ["-f", join(module, folder)]);
  await plane.kubectl(["apply", "--server-side", ...folders]);
  const crds = ["nodepools.karpenter.sh", "nodeclaims.karpenter.sh", "kwoknodeclasses.karpenter.kwok.sh"];
  await plane.kubectl([
    "wait",
    "--for=condition=Established",
    "--timeout=60s",
    ...crds.map((crd) => `crd/${crd}`),
  ]);
}

/** A NodePool of on-demand nodes that Karpenter may consolidate at once, and the node class it needs. */
export function nodePool(pool: NodePool): readonly object[] {
  const requirement = (key: string, value: string) => ({ key, operator: "In", values: [value] });
  const { name, labels = {}, annotations = {} } = pool;
  const spec = {
    template: {
      metadata: { labels, annotations },
      spec: {
        requirements: [
          requirement("kubernetes.io/arch", "amd64"),
          requirement("kubernetes.io/os", "linux"),
          requirement("karpenter.sh/capacity-type", "on-demand"),
        ],
        nodeClassRef: { group: "karpenter.kwok.sh", kind: "KWOKNodeClass", name: "default" },
        expireAfter: pool.expireAfter ?? "Never",
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
    { apiVersion: "karpenter.kwok.sh/v1alpha1", kind: "KWOKNodeClass", metadata: { name: "default" } },
  ];
}
