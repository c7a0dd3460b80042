import { trialHoldId } from "../core/marks/hold-id.ts";
import { holderName } from "../core/marks/keys.ts";
import { type NodeMeta, planMark } from "../core/marks/plan-marks.ts";
import type { Trial } from "../core/operate/check.ts";
import type { CallContext } from "../core/ports.ts";
import type { KubernetesCall, KubernetesCaller } from "./client.ts";
import { isRefusedByAdmission, isStatus } from "./error.ts";
import { markPatch } from "./node-changes.ts";
import { type NodeLife, parseNodeLife } from "./node-objects.ts";

export type TrialResult = Readonly<{ trial: Trial; said?: string; clusterTime?: Date }>;

const metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

/** Tries a change that is not ours to make, as a dry run: the cluster checks it and writes nothing. */
export const tryForeignChange = (
  api: KubernetesCaller,
  node: NodeMeta,
  context: CallContext,
): Promise<TrialResult> =>
  dryRun(api, node, context, {
    contentType: "application/merge-patch+json",
    body: { metadata: { annotations: { [`${holderName}/not-ours`]: "true" } } },
  });

/** Tries to set our mark, or to adopt the present one, in the same way. */
export async function tryOwnChange(
  api: KubernetesCaller,
  node: NodeMeta,
  annotation: string,
  context: CallContext,
): Promise<TrialResult> {
  const { change } = planMark(node, { holdId: trialHoldId, annotation });
  if (!change) return { trial: "not tried" };
  return dryRun(api, node, context, {
    contentType: "application/json-patch+json",
    body: markPatch(node, change),
  });
}

async function dryRun(
  api: KubernetesCaller,
  node: NodeMeta,
  context: CallContext,
  change: Pick<KubernetesCall, "contentType" | "body">,
): Promise<TrialResult> {
  const path = `/api/v1/nodes/${encodeURIComponent(node.name)}`;
  const query = { dryRun: "All", fieldManager: holderName };
  try {
    const answer = await api.call({ method: "PATCH", path, query, accept: metadataOnly, ...change }, context);
    const at = writtenAt(parseNodeLife(answer));
    return { trial: "admitted", ...(at && { clusterTime: at }) };
  } catch (error) {
    if (!isStatus(error, 403, 404, 409, 422)) throw error;
    // Only admission's refusal answers the question; a node that changed or is gone does not.
    return { trial: isRefusedByAdmission(error) ? "refused" : "not tried", said: error.message };
  }
}

/** The present time by the cluster's clock: when it recorded our write. */
const writtenAt = ({ writers }: NodeLife): Date | undefined =>
  writers
    .filter(({ manager }) => manager === holderName)
    .map(({ at }) => at)
    .toSorted((a, b) => b.getTime() - a.getTime())[0];
