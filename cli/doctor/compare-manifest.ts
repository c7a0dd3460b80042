import { isAsWritten } from "../../lambda/cluster-access/cluster-rights.ts";
import { accessManifest, type RightsOptions } from "../../lambda/cluster-access/manifest.ts";
import type { CallContext } from "../../lambda/core/ports.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { isStatus, isUnknownKind } from "../../lambda/kubernetes/error.ts";

/** The state of one of our objects in the cluster. */
export type AccessFinding = Readonly<{
  kind: string;
  state: "right" | "different" | "missing" | "unknown to this cluster";
}>;

export type ManifestSettings = Pick<Rules, "holdAnnotation"> & RightsOptions;

/** Compares what is in the cluster with what we would write there. */
export const compareManifest = (
  api: KubernetesCaller,
  { holdAnnotation, ...rights }: ManifestSettings,
  context: Pick<CallContext, "deadline">,
): Promise<readonly AccessFinding[]> =>
  Promise.all(
    accessManifest(holdAnnotation, rights).map(async ({ path, object, needsPolicies }) => {
      const kind = object.kind ?? "";
      try {
        const found = await api.call({ method: "GET", path }, context);
        return { kind, state: isAsWritten(found, object) ? "right" : "different" };
      } catch (error) {
        if (!isStatus(error, 404)) throw error;
        const isUnknown = needsPolicies && isUnknownKind(error);
        return { kind, state: isUnknown ? "unknown to this cluster" : "missing" };
      }
    }),
  );
