import { isAnnotationKey } from "../core/marks/annotation-key.ts";
import { asRecord } from "../kubernetes/node-objects.ts";
import { keysAnnotation } from "./manifest.ts";
import { annotationsIn } from "./policy.ts";

/** What the cluster has of ours; undefined where it is missing. */
type Recorded = Readonly<{ policy: unknown; role: unknown }>;

/** The annotation keys under which there may be marks, as our policy and our ClusterRole record them. */
export function recordedIn({ policy, role }: Recorded): readonly string[] {
  const keys = [...(policy ? annotationsIn(policy) : []), ...(role ? keysOfRole(role) : [])];
  return [...new Set(keys.filter(isAnnotationKey))];
}

function keysOfRole(role: unknown): readonly string[] {
  const { annotations } = asRecord(asRecord(role, "our ClusterRole").metadata, "our ClusterRole's metadata");
  const { [keysAnnotation]: keys } = Object(annotations);
  return typeof keys === "string" ? keys.split(",") : [];
}
