import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { karpentersLabels } from "../../simulator/fake-ec2.ts";
import type { ControlPlane } from "../../test/real/engines/control-plane.ts";
import type { BareLoop } from "./bare-loop.ts";

const claimsPath = "/apis/karpenter.sh/v1/nodeclaims";

/** Of Karpenter's own definition only what a list needs. */
const crd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "nodeclaims.karpenter.sh" },
  spec: {
    group: "karpenter.sh",
    scope: "Cluster",
    names: { kind: "NodeClaim", plural: "nodeclaims" },
    versions: [
      {
        ...{ name: "v1", served: true, storage: true },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

/** A NodeClaim for each of these nodes, which has joined long ago. */
export async function createClaims(
  plane: ControlPlane,
  loop: BareLoop,
  names: readonly string[],
): Promise<void> {
  const file = join(plane.folder, "nodeclaims.json");
  writeFileSync(file, JSON.stringify(crd));
  await plane.kubectl(["apply", "-f", file]);
  await plane.kubectl(["wait", "--for=condition=Established", "--timeout=60s", `crd/${crd.metadata.name}`]);
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  await loop.each(
    names,
    "POST",
    (name) => ({
      apiVersion: "karpenter.sh/v1",
      kind: "NodeClaim",
      metadata: { name: `claim-${name}`, labels: karpentersLabels("v1", "default") },
      status: {
        nodeName: name,
        providerID: `aws:///us-east-1a/i-${name.replace("node-", "0000000000")}`,
        allocatable: { cpu: "7910m", memory: "29Gi", pods: "58", "ephemeral-storage": "17Gi" },
        conditions: ["Launched", "Registered", "Initialized", "Ready"].map((type) => ({
          ...{ type, status: "True", reason: type, message: "", lastTransitionTime },
        })),
      },
    }),
    () => claimsPath,
  );
}

/** Pods of a usual size, so many on each of these nodes. */
export async function createPods(loop: BareLoop, nodes: readonly string[], each: number): Promise<void> {
  const names = nodes.flatMap((node) => Array.from({ length: each }, (_, i) => `${node}.${i}`));
  await loop.each(names, "POST", podOf, () => "/api/v1/namespaces/default/pods");
}

const env = Array.from({ length: 10 }, (_, i) => ({
  name: `SETTING_${i}`,
  value: `https://service-${i}.default.svc.cluster.local:8443/api/v1`,
}));
const probe = { httpGet: { path: "/healthz", port: 8080 }, periodSeconds: 10, failureThreshold: 3 };
const container = (name: string) => ({
  ...{ name, image: `example.invalid/team/${name}@sha256:${"0123456789abcdef".repeat(4)}`, env },
  ...{ livenessProbe: probe, readinessProbe: probe, ports: [{ containerPort: 8080 }] },
  resources: { requests: { cpu: "300m", memory: "1Gi" }, limits: { memory: "1Gi" } },
  volumeMounts: [{ name: "config", mountPath: "/etc/config" }],
});

function podOf(name: string): object {
  const [nodeName = "", number = ""] = name.split(".");
  const app = `service-${number}`;
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: app, uid: `uid-of-${app}` };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...{ name, namespace: "default", labels: { app, "app.kubernetes.io/part-of": "shop" } },
      annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": "8080" },
      ownerReferences: [{ ...owner, controller: true }],
    },
    spec: {
      nodeName,
      containers: [container("app"), container("proxy")],
      volumes: [{ name: "config", configMap: { name: app } }],
      topologySpreadConstraints: [
        {
          ...{ maxSkew: 1, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway" },
          labelSelector: { matchLabels: { app } },
        },
      ],
    },
  };
}
