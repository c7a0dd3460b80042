import { AppsV1Api, CoreV1Api, KubeConfig, KubernetesObjectApi } from "@kubernetes/client-node";
import { accessManifest } from "../../lambda/cluster-access/manifest.ts";
import { holderName, holdLabel, neverHold } from "../../lambda/core/marks/keys.ts";

export type Scaling = Readonly<{ namespace: string; deployment: string; replicas: number }>;

/** The cluster as the user's own kubeconfig shows it. */
export class ClusterView {
  readonly #config: KubeConfig;

  constructor(config: KubeConfig) {
    this.#config = config;
  }

  static from(path: string): ClusterView {
    const config = new KubeConfig();
    config.loadFromFile(path);
    return new ClusterView(config);
  }

  async marked(): Promise<readonly string[]> {
    const labelSelector = `${holdLabel},${holdLabel}!=${neverHold}`;
    const { items } = await this.#config.makeApiClient(CoreV1Api).listNode({ labelSelector });
    return items.map(({ metadata }) => metadata?.name ?? "");
  }

  /** The holder's objects that are still there. */
  async rights(): Promise<readonly string[]> {
    const api = KubernetesObjectApi.makeApiClient(this.#config);
    const found = accessManifest([]).map(async ({ path, object: { kind = "" } }) => {
      const apiVersion = path.split("/").slice(2, 4).join("/");
      return api.read({ apiVersion, kind, metadata: { name: holderName } }).then(
        () => [kind],
        (error: unknown) => {
          if (Object(error).code === 404) return [];
          throw error;
        },
      );
    });
    return (await Promise.all(found)).flat();
  }

  /** Returns the number of replicas before. */
  async scale({ namespace, deployment: name, replicas }: Scaling): Promise<number> {
    const apps = this.#config.makeApiClient(AppsV1Api);
    const scale = await apps.readNamespacedDeploymentScale({ namespace, name });
    const before = scale.spec?.replicas ?? 0;
    const body = { ...scale, spec: { ...scale.spec, replicas } };
    await apps.replaceNamespacedDeploymentScale({ namespace, name, body });
    return before;
  }
}
