import { BrokenSetupError } from "../core/errors.ts";
import type { Log } from "../core/ports.ts";

/** What a deployment wants of its cluster. */
export type DesiredAccess = Readonly<{
  cluster: string;
  holdAnnotation: string;
  /** The roles of the functions, which may log in as long as the deployment lives. */
  principals: readonly string[];
}>;

/** Who may log in to the cluster. */
export interface AccessEntries {
  /** How the cluster lets roles in; undefined when there is no such cluster. */
  kind(): Promise<"access entries" | "config map" | undefined>;
  /** Why this function cannot reach the cluster's API, with the remedy; undefined when nothing speaks against it. */
  whyUnreachable(): Promise<string | undefined>;
  /** Lets a role in as a member of our group; the same again changes nothing. Tells whether it was let in already. */
  admit(principal: string): Promise<"admitted" | "was in">;
  /** Lets a role in no longer; one that was never let in is done. */
  dismiss(principal: string): Promise<void>;
  /** Works as an admin of the cluster, and is none afterwards, also when the work failed. */
  asAdmin(work: (rights: Rights) => Promise<void>): Promise<void>;
}

/** What only an admin of the cluster may do for us. */
export interface Rights {
  /** Writes role, binding and policy, which then lets us change these annotations and no others. */
  write(annotations: readonly string[]): Promise<"with policy" | "without policy">;
  /** The annotations that the policy in the cluster takes now; none where there is no policy of ours. */
  annotations(): Promise<readonly string[]>;
  /** Leaves to their owners the nodes that are marked under one annotation and held by them under the other; tells how many. */
  handOver(from: string, to: string): Promise<number>;
  /** Puts every mark of ours under another annotation, in one step a node; tells how many. Where a node has both, the first is `whose`. */
  moveMarks(from: string, to: string, whose: "ours" | "its owner's"): Promise<number>;
  /** Takes every mark of ours off, whatever hold it is of; tells how many. */
  removeMarks(annotation: string): Promise<number>;
  /** Removes role, binding and policy; what is not there is done. */
  remove(): Promise<void>;
}

export type AccessPorts = Readonly<{ entries: AccessEntries; log: Log }>;

/**
 * Gives a new deployment its rights in the cluster, or leaves nothing behind: what CloudFormation could not
 * create it does not ask us to delete.
 */
export async function installAccess(ports: AccessPorts, wish: DesiredAccess): Promise<void> {
  await refuseUnusable(ports.entries, wish);
  let hadRights = false;
  try {
    hadRights = await admitAll(ports.entries, wish);
    await establish(ports, wish);
  } catch (error) {
    ports.log.error("cluster access could not be installed", { cluster: wish.cluster, hadRights, error });
    // Who was in already works by rights that somebody gave by hand, and goes on with them.
    if (!hadRights) await removeAccess(ports, wish);
    throw error;
  }
}

/** Brings the cluster from what a deployment was to what it is now; marks are moved without a gap. */
export async function changeAccess(
  ports: AccessPorts,
  before: DesiredAccess,
  wish: DesiredAccess,
): Promise<void> {
  const { entries, log } = ports;
  await refuseUnusable(entries, wish);
  await admitAll(entries, wish);
  if (before.holdAnnotation === wish.holdAnnotation) await establish(ports, wish);
  else await moveToAnnotation(ports, before.holdAnnotation, wish);
  for (const principal of before.principals) {
    if (!wish.principals.includes(principal)) await entries.dismiss(principal);
  }
  log.info("cluster access changed", { ...wish, annotationBefore: before.holdAnnotation });
}

/** Lets all roles in that are to be; tells whether one of them was in already. */
async function admitAll(entries: AccessEntries, wish: DesiredAccess): Promise<boolean> {
  let wasIn = false;
  for (const principal of wish.principals) wasIn = (await entries.admit(principal)) === "was in" || wasIn;
  return wasIn;
}

async function establish({ entries, log }: AccessPorts, wish: DesiredAccess): Promise<void> {
  await entries.asAdmin(async (rights) => {
    await gatherMarks(rights, wish.holdAnnotation);
    warnWithoutPolicy(log, wish, await rights.write([wish.holdAnnotation]));
  });
  log.info("cluster access established", { ...wish });
}

// The functions already speak the new key, and some may still be at work with the old one:
// the policy takes both until every mark is moved.
async function moveToAnnotation(
  { entries, log }: AccessPorts,
  from: string,
  wish: DesiredAccess,
): Promise<void> {
  const to = wish.holdAnnotation;
  await entries.asAdmin(async (rights) => {
    // An update that fails is rolled back, and this work may begin again half-way: the policy tells how far it came.
    const taken = await rights.annotations();
    if (taken.includes(to) && !taken.includes(from)) {
      const moved = await rights.moveMarks(from, to, "its owner's");
      warnWithoutPolicy(log, wish, await rights.write([to]));
      log.info("annotation changed back before its marks were moved", { from, to, nodes: moved });
      return;
    }
    // As long as the policy keeps the functions from the new key, whoever has it has it from its owner.
    const handedOver = taken.includes(to) ? 0 : await rights.handOver(from, to);
    await rights.write([from, to]);
    const moved = await rights.moveMarks(from, to, "ours");
    warnWithoutPolicy(log, wish, await rights.write([to]));
    try {
      // What a function still at work marked in between with the old key.
      const late = await rights.moveMarks(from, to, "ours");
      log.info("marks moved to another annotation", { from, to, nodes: moved + late, handedOver });
    } catch (error) {
      await rights.write([from, to]);
      throw error;
    }
  });
}

/**
 * Takes everything of ours out of the cluster. It never fails: a cluster that is gone or out of reach
 * must not keep a deployment from being deleted, so what had to stay is told instead.
 */
export async function removeAccess(
  { entries, log }: AccessPorts,
  wish: DesiredAccess,
): Promise<readonly string[]> {
  const left: string[] = [];
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      left.push(what);
      log.error("something of ours stays in the cluster", { cluster: wish.cluster, left: what, error });
      return undefined;
    }
  };

  const kind = await attempt("whatever is there: the cluster could not be looked up", () => entries.kind());
  if (kind === "access entries") {
    await attempt("marks on nodes, ClusterRole, binding and policy", () =>
      entries.asAdmin((rights) => removeRights(rights, log, wish)),
    );
    for (const principal of wish.principals) {
      await attempt(`access entry of ${principal}`, () => entries.dismiss(principal));
    }
  }
  const because = kind ? "" : "there is no such cluster, or it could not be asked";
  log.info("cluster access removed", { cluster: wish.cluster, left, ...(because && { because }) });
  return left;
}

// Once more after the rights are gone, for what a function still at work marked in between, and what failed at first.
async function removeRights(rights: Rights, log: Log, wish: DesiredAccess): Promise<void> {
  await gatherMarks(rights, wish.holdAnnotation);
  const marks = await rights.removeMarks(wish.holdAnnotation).catch((error: unknown) => {
    log.warn("not all marks came off at first", { cluster: wish.cluster, error });
    return 0;
  });
  await rights.remove();
  const late = await rights.removeMarks(wish.holdAnnotation);
  log.info("marks and rights removed", { cluster: wish.cluster, nodes: marks + late });
}

/** Marks under other keys that the policy takes are of a change of the annotation that did not come to its end. */
async function gatherMarks(rights: Rights, annotation: string): Promise<void> {
  const taken = await rights.annotations();
  const whose = taken.includes(annotation) ? "ours" : "its owner's";
  for (const from of taken) if (from !== annotation) await rights.moveMarks(from, annotation, whose);
}

/** Before anything is changed: a cluster that this function cannot log in to, or cannot reach. */
async function refuseUnusable(entries: AccessEntries, wish: DesiredAccess): Promise<void> {
  await refuseConfigMap(entries, wish);
  const unreachable = await entries.whyUnreachable();
  if (unreachable) throw new BrokenSetupError(unreachable);
}

async function refuseConfigMap(entries: AccessEntries, { cluster }: DesiredAccess): Promise<void> {
  const kind = await entries.kind();
  if (!kind)
    throw new BrokenSetupError(`there is no EKS cluster named ${cluster} in this account and region`);
  if (kind === "access entries") return;
  throw new BrokenSetupError(
    `cluster ${cluster} lets roles in by the aws-auth ConfigMap only. Allow access entries beside it with ` +
      `"aws eks update-cluster-config --name ${cluster} --access-config authenticationMode=API_AND_CONFIG_MAP" ` +
      `and then "aws eks wait cluster-active --name ${cluster}", or deploy with access=manual and apply the printed manifest`,
  );
}

function warnWithoutPolicy(
  log: Log,
  { cluster }: DesiredAccess,
  written: "with policy" | "without policy",
): void {
  if (written === "with policy") return;
  const because = "it is older than Kubernetes 1.30";
  log.warn("the cluster knows no admission policies; only our own code keeps us to our marks", {
    cluster,
    because,
  });
}
