import { KubernetesAccess } from "../../lambda/cluster-access/cluster-rights.ts";
import { after, seconds } from "../../lambda/core/duration.ts";
import { KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { kubeconfigLogin } from "../../lambda/kubernetes/kubeconfig-login.ts";
import { readKubeconfig } from "../../local/run/kubeconfig.ts";
import type { Doctor } from "./doctor.ts";
import { ineffectiveTemplates } from "./node-pool-templates.ts";

const noLog = { info: () => {}, warn: () => {}, error: () => {} };
const clock = { now: () => new Date() };

/** What only the caller's own rights in the cluster can show. */
export function ownKubernetes(
  path: string,
  context: string | undefined,
): Required<Pick<Doctor, "compareManifest" | "findIneffectiveTemplates">> {
  const config = readKubeconfig({ path, context });
  const using = async <T>(work: (api: KubernetesClient) => Promise<T>): Promise<T> => {
    const api = new KubernetesClient({ login: kubeconfigLogin(config), clock, metrics: { add: () => {} } });
    try {
      return await work(api);
    } finally {
      await api.close();
    }
  };
  return {
    compareManifest: (annotation) =>
      using((api) => new KubernetesAccess({ api, clock, log: noLog }).check([annotation])),
    findIneffectiveTemplates: () =>
      using((api) => ineffectiveTemplates(api, { deadline: after(clock.now(), seconds(30)) })),
  };
}
