import type {
  V1Container,
  V1Deployment,
  V1Namespace,
  V1PersistentVolumeClaim,
  V1PodSpec,
  V1ServiceAccount,
} from "@kubernetes/client-node";
import { rightsToRun, yamlOf } from "../../lambda/cluster-access/manifest-yaml.ts";
import { holderName } from "../../lambda/core/marks/keys.ts";
import type { Rules } from "../../lambda/core/rules.ts";

/** A namespace of its own, so that nothing else is in it. */
const metadata = { name: holderName, namespace: holderName };
const labels = { "app.kubernetes.io/name": holderName };

const namespace: V1Namespace = {
  apiVersion: "v1",
  kind: "Namespace",
  metadata: { name: holderName, labels: { "pod-security.kubernetes.io/enforce": "restricted" } },
};

const serviceAccount: V1ServiceAccount = { apiVersion: "v1", kind: "ServiceAccount", metadata };

const claim: V1PersistentVolumeClaim = {
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata,
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};

const volume = { name: "data", mountPath: "/data" };
/** Below the volume's own folder, which belongs to root: `run` makes it for itself alone. */
export const dataInPod = `${volume.mountPath}/holder`;

const port = { name: "metrics", containerPort: 9100 };
const probe = (path: string) => ({
  httpGet: { path, port: port.name },
  periodSeconds: 30,
  timeoutSeconds: 5,
});
/**
 * The rights in the cluster are those of this Pod alone, so marks of a record that is lost are its own: it takes them
 * over. The kubelet reaches it under the Pod's address only.
 */
const ownFlags = [
  ...["--data", dataInPod, "--log", "json", "--take-over"],
  ...["--metrics-port", String(port.containerPort), "--metrics-host", "$(POD_IP)"],
];

const container = (image: string, flags: readonly string[]): V1Container => ({
  name: "holder",
  image,
  command: [holderName],
  args: ["run", ...ownFlags, ...flags],
  env: [{ name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }],
  ports: [port],
  livenessProbe: probe("/healthz"),
  readinessProbe: probe("/readyz"),
  resources: { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "512Mi" } },
  securityContext: {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    readOnlyRootFilesystem: true,
  },
  volumeMounts: [volume],
});

const user = 65532;
const podSpec = (image: string, flags: readonly string[]): V1PodSpec => ({
  serviceAccountName: holderName,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: user,
    runAsGroup: user,
    fsGroup: user,
    seccompProfile: { type: "RuntimeDefault" },
  },
  containers: [container(image, flags)],
  volumes: [{ name: volume.name, persistentVolumeClaim: { claimName: holderName } }],
});

/** One replica, and never two: the record is for one holder. */
const deployment = (image: string, flags: readonly string[]): V1Deployment => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata,
  spec: {
    replicas: 1,
    strategy: { type: "Recreate" },
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: podSpec(image, flags) },
  },
});

/** `annotation` and `letGo` decide on the rights; `flags` are those of `run`. */
export type InCluster = Readonly<{
  annotation: string;
  letGo: Rules["letGo"];
  image: string;
  flags: readonly string[];
}>;

/** All that it takes to run the holder without AWS in a cluster, as text for `kubectl apply`. */
export const inClusterManifest = ({ annotation, letGo, image, flags }: InCluster): string =>
  yamlOf([
    namespace,
    serviceAccount,
    ...rightsToRun([annotation], { subject: { kind: "ServiceAccount", ...metadata }, letGo }),
    claim,
    deployment(image, flags),
  ]);
