import { attemptAll, BrokenSetupError, messageOf, TryAgainError } from "../core/errors.ts";
import { holderName } from "../core/marks/keys.ts";
import type { Log } from "../core/ports.ts";
import type { Rules } from "../core/rules.ts";

/** What a deployment wants of its cluster. */
export type DesiredAccess = Readonly<{
  cluster: string;
  /** What commands take as `--cluster`. */
  name: string;
  holdAnnotation: string;
  mode: Rules["mode"];
  /** The roles of the functions, which may log in as long as the deployment lives. */
  roles: readonly string[];
}>;

/** Who may log in to the cluster. */
export interface AccessEntries {
  /** How the cluster authenticates roles; undefined when there is no such cluster, or it is being deleted. */
  authentication(): Promise<"access entries" | "config map" | undefined>;
  /** Why the cluster cannot have a holder, with the remedy; undefined when it can. */
  whyUnusable(): Promise<string | undefined>;
  /** Lets a role log in as a member of our group. */
  create(role: string): Promise<"created" | "existed">;
  /** Deletes a role's entry; succeeds when there is none. */
  delete(role: string): Promise<"deleted" | "none">;
  /** Works as an admin of the cluster, and gives the admin right back afterwards, also when the work failed. */
  asAdmin(work: (rights: Rights) => Promise<void>): Promise<void>;
  /** Gives back an admin right that an earlier invocation left; succeeds when there is none. */
  returnAdminRight(): Promise<void>;
  /** Leaves a sign for the next removal that this one has reported what remains. */
  leaveSign(): Promise<void>;
  /** Whether there is a sign, or what an invocation left that was killed while it was an admin. */
  hasSign(): Promise<boolean>;
}

/** What only an admin of the cluster may do for us. */
export interface Rights {
  /** Whose rights these are, if they are another holder's: of a Pod, or of a deployment. */
  otherHolder(): Promise<string | undefined>;
  /** Writes role, binding and policy, which then let us mark by this annotation. */
  write(annotation: string): Promise<"with policy" | "without policy">;
  /** Waits until every API server knows what was written or revoked before. */
  untilKnown(): Promise<void>;
  /** The other annotations by which nodes are marked, and how many nodes. */
  otherMarks(annotation: string): Promise<ReadonlyMap<string, number>>;
  /** Removes every mark of ours, of every hold and by every annotation; returns how many. */
  removeMarks(annotation: string): Promise<number>;
  /** Revokes all rights of the functions; succeeds when they have none. */
  revoke(): Promise<void>;
  /** Removes role, binding and policy; succeeds when there are none. */
  remove(): Promise<void>;
}

export type AccessPorts = Readonly<{ entries: AccessEntries; log: Log }>;

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

/** Brings the cluster to what a deployment is now. */
export async function changeAccess(ports: AccessPorts, desired: DesiredAccess): Promise<void> {
  if (!(await ports.entries.authentication())) {
    // A failure would also fail the rollback, and a stack whose rollback failed takes no update.
    ports.log.warn("nothing was changed: there is no such cluster any more", { cluster: desired.cluster });
    return;
  }
  await refuseUnusable(ports.entries);
  await establish(ports, desired, async (rights) => {
    await refuseOtherMarks(rights, desired);
    for (const role of desired.roles) await ports.entries.create(role);
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

/** Two holders on one cluster remove each other's marks. */
async function refuseOtherHolder(rights: Rights, { cluster }: DesiredAccess): Promise<void> {
  const other = await rights.otherHolder();
  if (!other) return;
  throw new BrokenSetupError(
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

/** Refuses a cluster that this function cannot log in to or cannot reach, before it changes anything. */
async function refuseUnusable(entries: AccessEntries): Promise<void> {
  const why = await entries.whyUnusable();
  if (why) throw new BrokenSetupError(why);
}
