import { CoreV1Api, type KubernetesObject, KubernetesObjectApi, type V1Node } from "@kubernetes/client-node";
import { ControlPlane } from "../engines/control-plane.ts";
import { type NodePool, nodePool, startKarpenter } from "../engines/karpenter.ts";
import { patience, until } from "../engines/processes.ts";

export type Workload = Readonly<{
  replicas: number;
  cpu?: string;
  pool?: string;
  annotations?: Readonly<Record<string, string>>;
  /** Each of its pods needs a node of its own. */
  spread?: boolean;
}>;

/** A cluster with real Karpenter, and its users' actions. */
export class World {
  readonly plane: ControlPlane;
  readonly core: CoreV1Api;
  readonly #objects: KubernetesObjectApi;

  private constructor(plane: ControlPlane) {
    const config = plane.config("admin");
    this.plane = plane;
    this.core = config.makeApiClient(CoreV1Api);
    this.#objects = KubernetesObjectApi.makeApiClient(config);
  }

  static async start(version?: string): Promise<World> {
    return World.on(await ControlPlane.start(), version);
  }

  /** Starts Karpenter on a control plane, which then stops with this world. */
  static async on(plane: ControlPlane, version?: string): Promise<World> {
    try {
      await startKarpenter(plane, version);
      return new World(plane);
    } catch (error) {
      await plane.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    await this.plane.stop();
  }

  /** Creates or changes an object, whatever its kind. */
  async apply(...objects: readonly object[]): Promise<void> {
    for (const object of objects) {
      await this.#objects.patch(
        object as KubernetesObject,
        undefined,
        undefined,
        "test",
        true,
        "application/apply-patch+yaml",
      );
    }
  }

  async pool(pool: NodePool): Promise<void> {
    await this.apply(...nodePool(pool));
  }

  /** Scales a Deployment; with a large `cpu` each pod needs a node of its own. */
  async scale(name: string, work: Workload): Promise<void> {
    const { replicas, cpu = "3", pool, annotations = {}, spread = false } = work;
    const labels = { app: name };
    const containers = [{ name: "main", image: "registry.invalid/app", resources: { requests: { cpu } } }];
    const spec = {
      containers,
      ...(pool && { nodeSelector: { "karpenter.sh/nodepool": pool } }),
      ...(spread && { affinity: apart(labels) }),
      terminationGracePeriodSeconds: 0,
    };
    const template = { metadata: { labels, annotations }, spec };
    await this.apply({
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, namespace: "default" },
      spec: { replicas, selector: { matchLabels: labels }, template },
    });
  }

  async nodes(): Promise<V1Node[]> {
    return (await this.core.listNode()).items;
  }

  async names(): Promise<string[]> {
    return (await this.nodes()).map((node) => node.metadata?.name ?? "").sort();
  }

  /** Ready nodes that Karpenter has not chosen for disruption. */
  async ready(): Promise<string[]> {
    const isReady = (node: V1Node) =>
      node.metadata?.labels?.["karpenter.sh/initialized"] === "true" &&
      !node.metadata.deletionTimestamp &&
      !node.spec?.taints?.some((taint) => taint.key === "karpenter.sh/disrupted");
    return (await this.nodes())
      .filter(isReady)
      .map((node) => node.metadata?.name ?? "")
      .sort();
  }

  /** Waits until exactly this number of nodes is ready. */
  async untilReady(count: number): Promise<string[]> {
    let ready: string[] = [];
    await until(
      `${count} ready nodes`,
      async () => {
        ready = await this.ready();
        return ready.length === count && (await this.nodes()).length === count;
      },
      patience,
      250,
    );
    return ready;
  }

  /** Waits until every pod in the default namespace runs. */
  async untilPodsRun(): Promise<void> {
    await until(
      "every pod to run",
      async () => {
        const { items } = await this.core.listNamespacedPod({ namespace: "default" });
        return items.length > 0 && items.every((pod) => pod.status?.phase === "Running");
      },
      patience,
      500,
    );
  }

  /** Checks for a while that none of these nodes is removed; it must wait, because no event reports that nothing happened. */
  async stays(names: readonly string[], forMs: number): Promise<void> {
    const end = performance.now() + forMs;
    await until(
      "time to pass",
      async () => {
        const ready = await this.ready();
        const lost = names.filter((name) => !ready.includes(name));
        if (lost.length > 0)
          throw new Error(
            `lost ${lost.join(", ")} with ${Math.round((end - performance.now()) / 1000)} s to go`,
          );
        return performance.now() > end;
      },
      forMs + patience,
      500,
    );
  }

  async annotate(node: string, key: string, value: string | null): Promise<void> {
    await this.plane.kubectl([
      "annotate",
      "--overwrite",
      "node",
      node,
      value === null ? `${key}-` : `${key}=${value}`,
    ]);
  }
}

const apart = (matchLabels: Readonly<Record<string, string>>) => ({
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels } },
    ],
  },
});
