/** Static NodePools (`spec.replicas`), behind the feature gate `StaticCapacity`. */
export const staticPools = "1.8.0";

/** Keeps the rows that this version of Karpenter can show. */
export const shownBy = <R extends Readonly<{ since?: string }>>(version: string, rows: readonly R[]): R[] =>
  rows.filter(({ since = "0" }) => version.localeCompare(since, "en", { numeric: true }) >= 0);
