import { kubeconfigLogin } from "../../lambda/adapters/kubeconfig-login.ts";
import { type AccessFinding, KubernetesAccess } from "../../lambda/adapters/kubernetes-access.ts";
import { KubernetesClient } from "../../lambda/adapters/kubernetes-client.ts";
import { readKubeconfig } from "../../local/kubeconfig.ts";

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
