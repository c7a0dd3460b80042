import type { KubernetesCaller } from "./client.ts";

/** The same API; it checks every patch, policies included, and keeps none. */
export const dryRunOf = (api: KubernetesCaller): KubernetesCaller => ({
  call: (call, context) =>
    api.call(call.method === "PATCH" ? { ...call, query: { ...call.query, dryRun: "All" } } : call, context),
});
