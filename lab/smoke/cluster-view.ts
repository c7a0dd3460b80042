import { CoreV1Api, KubeConfig } from "@kubernetes/client-node";
import { ownKubernetes } from "../../cli/doctor/own-kubernetes.ts";
import { holdLabel, Karpenter, neverHold } from "../../lambda/core/marks/keys.ts";
import type { NodeSeen } from "./ledger/samples.ts";

/** The cluster as the user's own kubeconfig shows it. */
export class ClusterView {
  readonly #path: string;
  readonly #config = new KubeConfig();

  constructor(path: string) {
    this.#path = path;
    this.#config.loadFromFile(path);
  }

  async marked(): Promise<readonly string[]> {
    const labelSelector = `${holdLabel},${holdLabel}!=${neverHold}`;
    const { items } = await this.#config.makeApiClient(CoreV1Api).listNode({ labelSelector });
    return items.map(({ metadata }) => metadata?.name ?? "");
  }

  /** Karpenter's nodes, as a ledger records them. */
  async nodes(): Promise<readonly NodeSeen[]> {
    const { poolLabel, annotation } = Karpenter.v1;
    const { items } = await this.#config.makeApiClient(CoreV1Api).listNode({ labelSelector: poolLabel });
    return items.map(
      ({ metadata: { name = "", creationTimestamp, labels = {}, annotations = {} } = {} }) => ({
        ...{ name, nodePool: labels[poolLabel] ?? "", createdAt: creationTimestamp ?? new Date(0) },
        label: labels[holdLabel],
        annotation: annotations[annotation],
      }),
    );
  }

  /** The holder's objects that are still there. */
  async rights(): Promise<readonly string[]> {
    const { compareManifest } = await ownKubernetes(this.#path, undefined);
    const found = await compareManifest({
      holdAnnotation: Karpenter.v1.annotation,
      mode: "hold",
      auto: false,
      nodeEvents: false,
    });
    return found.filter(({ state }) => state === "right" || state === "different").map(({ kind }) => kind);
  }
}
