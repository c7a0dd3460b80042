import { messageOf, TryAgainError } from "../core/errors.ts";
import type { Log } from "../core/ports.ts";
import type { AccessPorts, DesiredAccess, Rights } from "./ports.ts";

/** What a removal had to leave, with the reasons, and whether an earlier one has reported that. */
export type Removal = Readonly<{ remains: readonly string[]; isReported: boolean }>;

/** Removes everything of ours from the cluster. It does not fail: it reports what remains. */
export async function removeAccess({ entries, log }: AccessPorts, desired: DesiredAccess): Promise<Removal> {
  const { cluster } = desired;
  const remains: string[] = [];
  let isReported = false;
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      remains.push(`${what} (${messageOf(error)})`);
      log.error("marks or rights of the holder remain in the cluster", { cluster, remains: what, error });
      return undefined;
    }
  };

  const authentication = await attempt("everything: the cluster could not be described", () =>
    entries.authentication(),
  );
  if (authentication === "access entries") {
    isReported = await entries.hasSign().catch(() => false);
    await attempt("marks on nodes, ClusterRole, binding or policy", () =>
      entries.asAdmin((rights) => removeRights(rights, log, desired)),
    );
    for (const role of desired.roles) {
      const entry = await attempt(`access entry of ${role}`, () => entries.delete(role));
      // This is the first removal, and what looked like a sign is none.
      if (entry === "deleted") isReported = false;
    }
  }
  log.info("cluster access removed", {
    cluster,
    remains,
    ...(!authentication && { reason: "there is no such cluster, or it could not be described" }),
  });
  return { remains, isReported };
}

/**
 * Removes everything for a deployment that is deleted. What remains is reported once, by a failure, which CloudFormation
 * shows; it shows nothing of a success. The next deletion tries again and ends whatever happens, because a cluster that
 * cannot be reached must not keep a deployment from being deleted. Where EKS takes no sign of the report, only a
 * function that still runs knows of it. Returns the report.
 */
export async function removeOrReport(
  ports: AccessPorts,
  desired: DesiredAccess,
  hasReported: boolean,
): Promise<TryAgainError | undefined> {
  const { remains, isReported } = await removeAccess(ports, desired);
  if (remains.length === 0 || isReported || hasReported) return undefined;
  await ports.entries
    .leaveSign()
    .catch((error: unknown) => ports.log.warn("the next removal may report again", { error }));
  return new TryAgainError(
    `These may remain in cluster ${desired.cluster}: ${remains.join("; ")}.\n` +
      "Delete the stack again within five minutes: that tries once more, and deletes the stack even if they remain. " +
      "`npx karpenter-node-holder release --force --kubeconfig FILE` takes the marks off the nodes. " +
      '"Removal" in docs/deploying.md says what else to remove by hand.',
  );
}

/** A node that cannot be changed does not stop the removal of the other marks and of the rights. */
async function removeRights(rights: Rights, log: Log, desired: DesiredAccess): Promise<void> {
  const { cluster, holdAnnotation } = desired;
  const other = await rights.otherHolder();
  if (other) {
    log.warn("marks and rights were left: they are another holder's", { cluster, other });
    return;
  }
  const nodes = await rights.removeMarks(holdAnnotation).catch((error: unknown) => {
    log.warn("not all marks could be removed at first", { cluster, error });
    return 0;
  });
  await rights.revoke();
  await rights.untilKnown();
  // Again, now that no function can mark any more: for late marks, and for those that failed at first.
  const late = await rights.removeMarks(holdAnnotation).catch((error: Error) => error);
  await rights.remove();
  if (late instanceof Error) throw late;
  log.info("marks and rights removed", { cluster, nodes: nodes + late });
}
