declare module "dynalite" {
  import type { Server } from "node:http";

  /** Without a path everything is in memory. */
  export default function dynalite(options: { path?: string; createTableMs?: number }): Server;
}
