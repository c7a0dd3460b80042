import { expect, it } from "vitest";
import type { KubernetesCall } from "../../lambda/kubernetes/client.ts";
import { dryRunOf } from "../../lambda/kubernetes/dry-run.ts";
import { within } from "../support/context.ts";

it("lets the server check a patch without keeping it, and reads as always", async () => {
  const calls: KubernetesCall[] = [];
  const api = dryRunOf({ call: async (call) => calls.push(call) });
  const get = { method: "GET", path: "/api/v1/nodes" } as const;
  const patch = { method: "PATCH", path: "/api/v1/nodes/a", query: { fieldManager: "x" } } as const;
  for (const call of [get, patch]) await api.call(call, within(1_000));
  expect(calls).toEqual([get, { ...patch, query: { fieldManager: "x", dryRun: "All" } }]);
});
