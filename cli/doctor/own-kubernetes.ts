import { type AccessFinding, KubernetesAccess } from "../../lambda/cluster-access/cluster-rights.ts";
import { KubernetesClient } from "../../lambda/kubernetes/client.ts";
import { kubeconfigLogin } from "../../lambda/kubernetes/kubeconfig-login.ts";
import { readKubeconfig } from "../../local/run/kubeconfig.ts";

const nobodyListens = { info: () => {}, warn: () => {}, error: () => {} };

/** Compares with the caller's own way into the cluster. */
export function compareWith(path: string, context: string | undefined) {
  const config = readKubeconfig({ path, context });
  const clock = { now: () => new Date() };
  return async (annotation: string): Promise<readonly AccessFinding[]> => {
    const api = new KubernetesClient({ login: kubeconfigLogin(config), clock, metrics: { add: () => {} } });
    try {
      return await new KubernetesAccess({ api, clock, log: nobodyListens }).check([annotation]);
    } finally {
      await api.close();
    }
  };
}
