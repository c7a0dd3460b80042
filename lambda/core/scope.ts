/** What one hold protects: every Karpenter node of the cluster, or those of one NodePool. */
export type Scope = "cluster" | `nodepool/${string}`;

export const wholeCluster = "cluster" satisfies Scope;
const poolPrefix = "nodepool/";
const poolName = /^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/;

export const poolScope = (nodePool: string): Scope => `${poolPrefix}${nodePool}`;

/** The NodePool of a scope; undefined for the whole cluster. */
export const nodePoolOf = (scope: Scope): string | undefined =>
  scope === wholeCluster ? undefined : scope.slice(poolPrefix.length);

/** Reads "cluster" or "nodepool/NAME". */
export function parseScope(text: string): Scope | undefined {
  if (text === wholeCluster) return wholeCluster;
  if (!text.startsWith(poolPrefix)) return undefined;
  const nodePool = text.slice(poolPrefix.length);
  return poolName.test(nodePool) ? poolScope(nodePool) : undefined;
}

/** NodePools to include (all when none is named) and to leave out. */
export type NodePoolFilter = Readonly<{ only: readonly string[]; except: readonly string[] }>;

/** An invalid NodePool name was written by hand; a scope with that name could not be parsed again. */
export const admits = (filter: NodePoolFilter, nodePool: string): boolean =>
  poolName.test(nodePool) &&
  (filter.only.length === 0 || filter.only.includes(nodePool)) &&
  !filter.except.includes(nodePool);
