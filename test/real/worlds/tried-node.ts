import { holderName } from "../../../lambda/core/marks/keys.ts";
import type { KubernetesCall, KubernetesClient } from "../../../lambda/kubernetes/client.ts";
import { isRefusedByAdmission, isStatus } from "../../../lambda/kubernetes/error.ts";
import type { Node } from "../../cluster-access/policy-cases.ts";
import { within } from "../../support/context.ts";

/** The node that a holder tries to change. */
export const path = "/api/v1/nodes/a";
export const soon = () => within(30_000);

export const patched = (body: object, at = path): KubernetesCall => ({
  method: "PATCH",
  path: at,
  query: { fieldManager: holderName },
  contentType: "application/merge-patch+json",
  body,
});

export async function createNode(admin: KubernetesClient, { labels = {}, annotations, owners }: Node) {
  // At least one label, so that there is always a map to patch.
  const metadata = { name: "a", labels: { pool: "default", ...labels }, annotations };
  const body = { apiVersion: "v1", kind: "Node", metadata };
  const created = await admin.call({ method: "POST", path: "/api/v1/nodes", body }, soon());
  if (!owners) return created;
  return admin.call(patched({ metadata: { managedFields: owners } }), soon());
}

export const removeNode = (admin: KubernetesClient) =>
  admin.call({ method: "DELETE", path }, soon()).catch(() => {});

/** "admitted", or what refused it: RBAC with 403, the policy with 422, a cause and its name. */
export async function outcomeOf(holder: KubernetesClient, call: KubernetesCall): Promise<string> {
  try {
    await holder.call(call, soon());
    return "admitted";
  } catch (error) {
    if (isStatus(error, 403)) return "refused by RBAC";
    if (!isStatus(error, 422)) throw error;
    const isOurs = error.message.includes("ValidatingAdmissionPolicy 'karpenter-node-holder'");
    return isRefusedByAdmission(error) && isOurs ? "refused by the policy" : error.message;
  }
}
