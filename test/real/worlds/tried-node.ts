import { holderName } from "../../../lambda/core/marks/keys.ts";
import type { KubernetesCall, KubernetesClient } from "../../../lambda/kubernetes/client.ts";
import { isRefusedByAdmission, isStatus } from "../../../lambda/kubernetes/error.ts";
import { callsThatMake, type Node, path } from "../../cluster-access/policy-requests.ts";
import { within } from "../../support/context.ts";

export const soon = () => within(30_000);

export const patched = (body: object, at = path): KubernetesCall => ({
  method: "PATCH",
  path: at,
  query: { fieldManager: holderName },
  contentType: "application/merge-patch+json",
  body,
});

/** A server-side apply of this metadata. */
export const applied = (manager: string, metadata: object): KubernetesCall => ({
  method: "PATCH",
  path,
  query: { fieldManager: manager, force: "true" },
  contentType: "application/apply-patch+yaml",
  body: { apiVersion: "v1", kind: "Node", metadata },
});

/** Makes the node; returns it as the last call left it. */
export async function createNode(admin: KubernetesClient, node: Node): Promise<unknown> {
  let made: unknown;
  for (const call of callsThatMake(node)) made = await admin.call(call, soon());
  return made;
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
