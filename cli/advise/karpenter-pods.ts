import { earlier } from "../../lambda/core/duration.ts";
import type { KubernetesCall, KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { isOfLeader } from "./karpenter-log.ts";
import type { NamedPod } from "./objects.ts";

/** A text of Karpenter's, and since when it has what happened. */
export type Text = Readonly<{ text: string; since?: Date }>;

type Asked = Readonly<{ deadline: Date }> & Required<Pick<KubernetesCall, "onText">>;
/** Nothing of a replica that only waits to lead. */
export type ReadPod = (api: KubernetesCaller, pod: NamedPod, asked: Asked) => Promise<Text | undefined>;

const nameLabel = "app.kubernetes.io/name";

/** Whether it has the label of Karpenter's chart. */
export const isKarpenters = ({ metadata }: NamedPod): boolean => metadata.labels[nameLabel] === "karpenter";

/** The chart may add sidecars, and the kubelet sorts statuses by name. */
const controllerIn = <T extends Readonly<{ name: string }>>(containers: readonly T[]): T | undefined =>
  containers.find(({ name }) => name === "controller") ?? containers[0];
const containerOf = ({ status }: NamedPod) => controllerIn(status.containerStatuses);

/** The minor version of 1.x; the status of an image with a digest may have no tag. */
export const versionOf = (controllers: readonly NamedPod[]): number | undefined =>
  controllers
    .flatMap((pod) => [controllerIn(pod.spec.containers)?.image, containerOf(pod)?.image])
    .map((image = "") => /karpenter.*:v?1\.(\d+)\.\d+/.exec(image)?.[1])
    .filter((minor) => minor !== undefined)
    .map(Number)[0];

const isRunning = (pod: NamedPod): boolean => Boolean(containerOf(pod)?.state?.running);

const pathOf = ({ metadata }: NamedPod, port = "") =>
  `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}${port}`;

/** The newest lines: the kubelet keeps about 10 MB of them. */
const mostLines = "50000";

export const readLog: ReadPod = async (api, pod, { deadline, onText }) => {
  const container = containerOf(pod)?.name;
  const query = { tailLines: mostLines, ...(container && { container }) };
  const path = `${pathOf(pod)}/log`;
  const text = String(await api.call({ method: "GET", path, query, accept: "*/*", onText }, { deadline }));
  return isOfLeader(text) ? { text } : undefined;
};

export const readMetrics: ReadPod = async (api, pod, { deadline, onText }) => {
  const since = containerOf(pod)?.state?.running?.startedAt;
  const path = `${pathOf(pod, ":8080")}/proxy/metrics`;
  const text = String(await api.call({ method: "GET", path, accept: "*/*", onText }, { deadline }));
  if (/^leader_election_master_status\{[^}]*\} 0$/m.test(text)) return undefined;
  return { text, ...(since && { since }) };
};

/** The texts of those that run, as one; one that cannot be read takes nothing from the others. */
export async function readEach(
  pods: readonly NamedPod[],
  textOf: (pod: NamedPod) => Promise<Text | undefined>,
): Promise<Text> {
  const tries = await Promise.allSettled(pods.filter(isRunning).map(textOf));
  const found = tries.flatMap((one) => (one.status === "fulfilled" && one.value ? [one.value] : []));
  const failed = tries.find((one) => one.status === "rejected");
  if (found.length === 0)
    throw (
      failed?.reason ??
      new Error(tries.length > 0 ? "no replica of Karpenter leads" : "no pod of Karpenter is running")
    );
  const since = found.flatMap(({ since }) => since ?? []);
  return {
    text: found.map(({ text }) => text).join("\n"),
    ...(since.length > 0 && { since: since.reduce(earlier) }),
  };
}
