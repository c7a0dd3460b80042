import { attemptAll, BrokenSetupError } from "../core/errors.ts";
import { holderName } from "../core/marks/keys.ts";
import type { AccessEntries, AccessPorts, DesiredAccess, Rights } from "./ports.ts";
import { removeAccess } from "./removal.ts";

/** Gives a new deployment its rights, or leaves nothing behind: CloudFormation does not delete what it could not create. */
export async function installAccess(ports: AccessPorts, desired: DesiredAccess): Promise<void> {
  const { entries, log } = ports;
  await refuseUnusable(entries);
  const created: string[] = [];
  try {
    await establish(ports, desired, async () => {
      for (const role of desired.roles) if ((await entries.create(role)) === "created") created.push(role);
    });
  } catch (error) {
    log.error("cluster access could not be installed", { cluster: desired.cluster, created, error });
    // Roles that have an entry already got their rights by hand, and keep them.
    if (created.length === desired.roles.length) await removeAccess(ports, desired);
    else
      await attemptAll(created.map((role) => () => entries.delete(role))).catch((remains: unknown) =>
        log.error("access entries of the holder remain", {
          cluster: desired.cluster,
          created,
          error: remains,
        }),
      );
    throw error;
  }
}

/**
 * Brings the cluster to what a deployment is now. Where its cluster is gone or has become another holder's, nothing is
 * changed: a failure would also fail the rollback, and a stack whose rollback failed takes no update. A deployment that
 * moves to a cluster of another holder is refused; its rollback is about the former cluster.
 */
export async function changeAccess(
  ports: AccessPorts,
  desired: DesiredAccess,
  formerCluster?: string,
): Promise<void> {
  const { cluster } = desired;
  if (!(await ports.entries.authentication())) {
    ports.log.warn("nothing was changed: there is no such cluster any more", { cluster });
    return;
  }
  await refuseUnusable(ports.entries);
  const work = establish(ports, desired, async (rights) => {
    await refuseOtherMarks(rights, desired);
    for (const role of desired.roles) await ports.entries.create(role);
  });
  await work.catch((error: unknown) => {
    if (!(error instanceof OtherHolderError) || formerCluster !== cluster) throw error;
    ports.log.warn("nothing was changed: the cluster has another holder now", { cluster, error });
  });
}

/**
 * Writes our rights, and removes the marks that no function may remove any more: all of them where the holder observes
 * from now on, and what a function marked by another annotation while it was updated.
 */
async function establish(
  { entries, log }: AccessPorts,
  desired: DesiredAccess,
  admit: (rights: Rights) => Promise<void>,
): Promise<void> {
  const { holdAnnotation, mode } = desired;
  await entries.asAdmin(async (rights) => {
    await refuseOtherHolder(rights, desired);
    await admit(rights);
    const written = await rights.write(holdAnnotation);
    if (written === "without policy")
      log.warn("the cluster has no admission policies: only its own code limits the holder to its marks", {
        cluster: desired.cluster,
        reason: "it is older than Kubernetes 1.30",
      });
    await rights.untilKnown();
    const others = await rights.otherMarks(holdAnnotation);
    if (mode === "observe" || others.size > 0) {
      const nodes = await rights.removeMarks(holdAnnotation);
      log.info("marks removed", { mode, others: [...others.keys()], nodes });
    }
    log.info("cluster access established", { ...desired });
  });
}

class OtherHolderError extends BrokenSetupError {}

/** Two holders on one cluster remove each other's marks. */
async function refuseOtherHolder(rights: Rights, { cluster }: DesiredAccess): Promise<void> {
  const other = await rights.otherHolder();
  if (!other) return;
  throw new OtherHolderError(
    `cluster ${cluster} has another holder already: ClusterRoleBinding ${holderName} names ${other}\n` +
      `Remove that one first. If it is gone: kubectl delete clusterrolebinding ${holderName}. Then deploy again`,
  );
}

/** Our functions can remove a mark only by the annotation that the policy names. */
async function refuseOtherMarks(rights: Rights, { name, holdAnnotation }: DesiredAccess): Promise<void> {
  const [other] = await rights.otherMarks(holdAnnotation);
  if (!other) return;
  const [annotation, nodes] = other;
  throw new BrokenSetupError(
    `${nodes} nodes are marked by the annotation ${annotation}, and this deployment names ${holdAnnotation}\n` +
      `Release them first: npx karpenter-node-holder pause --cluster ${name} --for 1h --reason "another annotation"\n` +
      "Then deploy again, and resume",
  );
}

/** Refuses a cluster that this function cannot log in to or cannot reach, before it changes anything. */
async function refuseUnusable(entries: AccessEntries): Promise<void> {
  const why = await entries.whyUnusable();
  if (why) throw new BrokenSetupError(why);
}
