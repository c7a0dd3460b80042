import { Karpenter } from "../lambda/core/marks/keys.ts";
import type { NodeClaim } from "../lambda/core/ports.ts";
import type { KubernetesCall } from "../lambda/kubernetes/client.ts";
import { explained, KubernetesError } from "../lambda/kubernetes/error.ts";
import { parseLabelSelector } from "./fake-kubernetes/label-selector.ts";

const claimsPath = /^\/apis\/karpenter\.sh\/(v1|v1beta1)\/nodeclaims$/;
const { poolLabel } = Karpenter.v1;
/** What pods may request of a node, in thousandths of a core. */
export const nodeCpu = 7_910;

/** Karpenter's NodeClaims, as the API server answers. */
export class FakeNodeClaims {
  readonly claims = new Map<string, NodeClaim>();
  /** Refuses every list: 403 without the rights, 404 where the cluster has no NodeClaims. */
  refusedWith: 403 | 404 | undefined;
  /** What pods may request of a node, by its NodeClaim. */
  cpuOf: (name: string) => number = () => nodeCpu;

  /** Adds a NodeClaim, as Karpenter creates it. */
  add(claim: Omit<NodeClaim, "nodePool"> & Readonly<{ nodePool?: string }>): void {
    this.claims.set(claim.name, { nodePool: "default", ...claim });
  }

  /** Changes a NodeClaim, unless it is gone. */
  change(name: string, change: Partial<NodeClaim>): void {
    const claim = this.claims.get(name);
    if (claim) this.claims.set(name, { ...claim, ...change });
  }

  static answers({ path }: KubernetesCall): boolean {
    return claimsPath.test(path);
  }

  /** Answers a list of NodeClaims. */
  answer({ path, query = {} }: KubernetesCall): unknown {
    const status = this.refusedWith ?? (path.includes("/v1beta1/") ? 404 : undefined);
    if (status) throw explained(new KubernetesError(`GET ${path}`, status, {}));
    return { items: this.#claims(query), metadata: { resourceVersion: "1" } };
  }

  #claims({ labelSelector = "" }: Readonly<Record<string, string>>): readonly unknown[] {
    const labels = parseLabelSelector(labelSelector);
    return [...this.claims.values()]
      .filter(({ nodePool }) => labels({ [poolLabel]: nodePool }))
      .map(
        ({ name, createdAt, nodePool, instance, node, openedAt, driftedAt, isDeleted, consolidatable }) => ({
          metadata: {
            ...{ name, creationTimestamp: text(createdAt), labels: { [poolLabel]: nodePool } },
            ...(isDeleted && { deletionTimestamp: text(createdAt) }),
          },
          spec: { taints: [] },
          status: {
            allocatable: { cpu: `${this.cpuOf(name)}m`, memory: "30Gi", pods: "110" },
            ...(node && { nodeName: node }),
            ...(instance && { providerID: `aws:///eu-central-1a/${instance}` }),
            conditions: [
              ...["Registered", "Initialized"].flatMap((type) => since(type, openedAt)),
              ...since("Drifted", driftedAt),
              ...(consolidatable === "not yet"
                ? []
                : since("Consolidatable", consolidatable?.since ?? openedAt)),
            ],
          },
        }),
      );
  }
}

const since = (type: string, at: Date | undefined) =>
  at ? [{ type, status: "True", lastTransitionTime: text(at) }] : [];

/** The API server keeps whole seconds. */
const text = (at: Date): string => at.toISOString().replace(/\.\d+Z$/, "Z");
