import { holderName } from "../../../lambda/core/marks/keys.ts";
import type { KubernetesCall, KubernetesClient } from "../../../lambda/kubernetes/client.ts";
import { isRefusedByAdmission, isStatus } from "../../../lambda/kubernetes/error.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { both, callsThatMake, merge, type Node, path } from "../../cluster-access/policy-requests.ts";
import { within } from "../../support/context.ts";
import { patience, until } from "../engines/processes.ts";

export const soon = () => within(patience);

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

/** Waits until the rights of the holder and the policy are in force. */
export const untilInForce = (admin: KubernetesClient, holder: KubernetesClient) =>
  until("the rights and the policy to be in force", async () => {
    const outcomes: string[] = [];
    for (const change of [both(holdId(1), "true"), { labels: { x: "y" } }]) {
      await createNode(admin, {});
      outcomes.push(await outcomeOf(holder, patched(merge(change))));
      await removeNode(admin);
    }
    return outcomes.join() === "admitted,refused by the policy";
  });

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
