import type { NodeClaim, NodeClaims, Replacement, Unavailable } from "../lambda/core/ports.ts";
import { nodePoolOf, type Scope } from "../lambda/core/scope.ts";

type Stored = NodeClaim & Readonly<{ nodePool: string }>;

/** Karpenter's NodeClaims in memory; a cluster without any, unless a test says otherwise. */
export class MemoryNodeClaims implements NodeClaims {
  readonly claims = new Map<string, Stored>();
  /** Which NodeClaims an event names as replacements, and since when. */
  readonly events = new Map<string, Date>();
  unavailable: Unavailable | undefined = { unavailable: "the cluster has no NodeClaims" };

  /** Adds a NodeClaim, as Karpenter creates it. */
  add(claim: NodeClaim & Readonly<{ nodePool?: string }>): void {
    this.unavailable = undefined;
    this.claims.set(claim.name, { nodePool: "default", ...claim });
  }

  async replacements(since: Date, known: ReadonlySet<string>): Promise<readonly Replacement[] | Unavailable> {
    if (this.unavailable) return this.unavailable;
    return [...this.claims.values()].flatMap(({ name: nodeClaim, instance }) => {
      const at = this.events.get(nodeClaim);
      if (!at || at < since || known.has(nodeClaim)) return [];
      return [{ nodeClaim, ...(instance && { instance }) }];
    });
  }

  async launchedSince(scope: Scope, since: Date): Promise<readonly NodeClaim[] | Unavailable> {
    if (this.unavailable) return this.unavailable;
    const nodePool = nodePoolOf(scope);
    return [...this.claims.values()].filter(
      (claim) => claim.createdAt >= since && (nodePool === undefined || claim.nodePool === nodePool),
    );
  }

  async limits(): Promise<readonly string[]> {
    return this.unavailable ? [this.unavailable.unavailable] : [];
  }
}
