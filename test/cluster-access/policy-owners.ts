import { holderName, holdLabel } from "../../lambda/core/marks/keys.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { annotation, mark, type Node, type Owner, type Request } from "./policy-requests.ts";

/** An entry of managedFields, from long before the request. */
export const owner = (manager: string, operation: "Apply" | "Update", fieldsV1: object): Owner => ({
  manager,
  operation,
  apiVersion: "v1",
  time: "2026-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1,
});
type Owned = Readonly<{ labels?: readonly string[]; annotations?: readonly string[] }>;
/** "." is the map itself; the API server writes it so where a manager owns a key beside it, and {} where it does not. */
export const owns = ({ labels, annotations }: Owned) => ({
  "f:metadata": {
    ...(labels && { "f:labels": fieldsOf(labels) }),
    ...(annotations && { "f:annotations": fieldsOf(annotations) }),
  },
});
const fieldsOf = (keys: readonly string[]) =>
  Object.fromEntries(keys.map((key) => [key === "." ? key : `f:${key}`, {}]));
export const forge = (...managedFields: readonly object[]): Request => ({ metadata: { managedFields } });

export const labelsOf = (...labels: readonly string[]) => owns({ labels });
export const allLabels = owns({ labels: [] });

export const markFields = owns({ labels: [holdLabel], annotations: [annotation] });
export const ours = owner(holderName, "Update", markFields);
export const gitops = owner("gitops", "Apply", labelsOf("team"));
/** The entry into which the API server folds old updates. */
export const folded = (fieldsV1: object) => owner("ancient-changes", "Update", fieldsV1);
/** A held node with these owners. */
export const held = (...owners: readonly Owner[]): Node => ({ ...mark(holdId(1)), owners });
/** As many updates as the API server keeps. */
export const tenOwners = Array.from({ length: 10 }, (_, i) => owner(`m${i}`, "Update", labelsOf(`l${i}`)));
