import type { ConnectionOptions } from "node:tls";

/** Where a cluster's API is, that to trust there, and what to show at its door. */
export type ClusterAccess = Readonly<{
  server: string;
  tls: Readonly<
    Pick<ConnectionOptions, "ca" | "cert" | "key" | "passphrase" | "rejectUnauthorized" | "servername">
  >;
  headers: Readonly<Record<string, string>>;
}>;

/** Knows the way into one cluster. */
export interface ClusterLogin {
  access(): Promise<ClusterAccess>;
  /** Forgets what it remembers: the cluster refused it. */
  refresh(): void;
}
