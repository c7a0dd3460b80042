import * as v from "valibot";
import { clusterRoleBindingPath, clusterRolePath } from "../../lambda/cluster-access/manifest.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import type { CallContext, Holds, Journal, SeenNode } from "../../lambda/core/ports.ts";
import type { KubernetesCaller } from "../../lambda/kubernetes/client.ts";
import { isStatus } from "../../lambda/kubernetes/error.ts";
import { StartError } from "./rights.ts";

type Cluster = Readonly<{
  api: KubernetesCaller;
  marked: readonly SeenNode[];
  holds: Holds;
  journal: Journal;
}>;
type Choice = Readonly<{
  takeOver: boolean;
  /** The marks are those of a record that was lost, or of a run that has ended. */
  isLost: boolean;
}>;

/** More than are kept of any cluster. */
const mostPastHolds = 10_000;

/**
 * Two holders remove each other's marks: where another one seems to work, this one may only take its place. How old a mark is
 * says nothing: a hold lasts as long as launches or requests follow each other. Returns how many nodes have one that is not
 * in this record.
 */
export async function refuseBesideOther(
  { api, marked, holds, journal }: Cluster,
  { takeOver, isLost }: Choice,
  context: CallContext,
): Promise<number> {
  const past = await journal.history(mostPastHolds);
  const present = (await holds.all()).records.flatMap(({ hold }) => hold ?? []);
  const known = new Set([...past, ...present].map(({ id }) => id));
  const foreign = marked.map(({ labels }) => labels?.[holdLabel] ?? "").filter((id) => !known.has(id));
  const count = foreign.length;
  const marks = `${count} nodes carry marks of holds that are not in this record`;
  const because = count > 0 && !isLost ? marks : await whoseRights(api, context);
  if (because !== undefined && !takeOver)
    throw new StartError(
      `another holder seems to work on this cluster: ${because}`,
      "Stop the other holder, or take its place with --take-over: what it holds is then released.",
    );
  return count;
}

const rights = v.object({
  rules: v.optional(v.array(v.object({ resources: v.array(v.string()), verbs: v.array(v.string()) })), []),
  subjects: v.optional(v.array(v.object({ kind: v.string() })), []),
});

/** Whose rights are installed, as far as we may read them: an admin may, who has only the rights of `run` may not. */
async function whoseRights(api: KubernetesCaller, context: CallContext): Promise<string | undefined> {
  const read = async (path: string) => {
    const found = await api.call({ method: "GET", path }, context).catch((error: unknown) => {
      // Where an API server does not show whether it is ready, its refusal is the cause of a transient error.
      if (!isStatus(error, 403, 404) && !isStatus(Object(error).cause, 403)) throw error;
    });
    return v.parse(v.fallback(rights, { rules: [], subjects: [] }), found);
  };
  const { rules } = await read(clusterRolePath);
  const isOfFunctions = rules.some(
    ({ resources, verbs }) => resources.includes("nodes") && !verbs.includes("watch"),
  );
  if (isOfFunctions) return "its ClusterRole gives rights to a deployed holder";
  const { subjects } = await read(clusterRoleBindingPath);
  const isOfPod = subjects.some(({ kind }) => kind === "ServiceAccount");
  return isOfPod ? "its ClusterRoleBinding gives rights to a holder in a Pod" : undefined;
}
