import { type ClusterFacts, whyUnusable } from "../../../lambda/aws/usable-cluster.ts";
import { minutes } from "../../../lambda/core/duration.ts";
import { holderName } from "../../../lambda/core/marks/keys.ts";
import { SettingEnvironment } from "../../../lambda/environment.ts";
import type { FunctionFacts } from "../aws/account.ts";
import { type Doctor, isAuto, modeOf, reapply } from "../doctor.ts";
import type { Seen } from "../examination.ts";
import { type Findings, type Found, fail, ok, warn } from "../finding.ts";
import type { Functions } from "./functions.ts";

/** The cluster is there, lets roles in by access entries, and can be reached from where the functions are. */
export async function checkCluster(doctor: Doctor, { control }: Functions): Promise<Seen<ClusterFacts>> {
  const { cluster: name, account } = doctor;
  const cluster = await account.cluster();
  const why = whyUnusable(name, cluster, control);
  if (why) return { findings: fail(why.reason, why.remedy) };
  const what = `${name}, Kubernetes ${cluster?.version}, ${cluster?.authenticationMode}`;
  return { findings: ok(what), ...(cluster && { facts: cluster }) };
}

/** Every function's role may log in as a member of our group. */
export async function checkAccessEntries(doctor: Doctor, functions: Functions): Promise<Findings> {
  const found = await Promise.all(
    Object.values(functions).map(async (fn) => [fn, await doctor.account.accessGroups(fn.roleArn)] as const),
  );
  const wrong = found.filter(([, groups]) => !groups?.includes(holderName));
  if (wrong.length === 0) return ok(`${found.length} roles in group ${holderName}`);
  return wrong.map(([fn, groups]) => locked(doctor, fn, groups));
}

/** A deployment takes less time; after that, an admin right was left by a killed invocation. */
const longestInvocation = minutes(15);

/** The function that installs the access is an admin of the cluster only while it works. */
export async function checkAdminRight({ account, cluster, clock }: Doctor): Promise<Findings> {
  const installer = await account.functionOf("cluster-access");
  const since = installer && (await account.adminSince(installer.roleArn));
  if (!since) return [];
  const what = `${installer.name} is an admin of ${cluster} since ${since.toISOString()}`;
  if (clock.now().getTime() - since.getTime() < longestInvocation) {
    return warn(`${what}: is a deployment running?`, "Check again in 15 minutes.");
  }
  const remedy = `aws eks delete-access-entry --cluster-name ${cluster} --principal-arn ${installer.roleArn}`;
  return fail(`${what}, and no deployment takes that long`, remedy, {
    action: `remove the admin right of ${installer.name}`,
    apply: () => account.deleteEntry(installer.roleArn),
  });
}

function locked(
  doctor: Doctor,
  { name, roleArn }: FunctionFacts,
  groups: readonly string[] | undefined,
): Found {
  const what = groups
    ? `the access entry of ${name} is not in group ${holderName}`
    : `${name} has no access entry: the cluster does not let it in`;
  const verb = groups ? "update" : "create";
  const remedy =
    `aws eks ${verb}-access-entry --cluster-name ${doctor.cluster} --principal-arn ${roleArn} ` +
    `--kubernetes-groups ${holderName}`;
  return fail(what, remedy, {
    action: `let ${name} into the cluster again`,
    apply: () => doctor.account.admit(roleArn),
  });
}

/** Compares role, binding and policy with the manifest; needs a kubeconfig. */
export async function checkManifest({ compareManifest }: Doctor, { env }: FunctionFacts): Promise<Findings> {
  if (!compareManifest) return [];
  const { [SettingEnvironment.holdAnnotation]: annotation = "" } = env;
  const found = await compareManifest(annotation, { mode: modeOf({ env }), auto: isAuto({ env }) });
  const unknown = found.filter(({ state }) => state === "unknown to this cluster");
  const wrong = found.filter(({ state }) => state === "missing" || state === "different");
  if (wrong.length > 0) {
    const what = wrong.map(
      ({ kind, state }) => `${kind} is ${state === "missing" ? "missing" : "not as in the manifest"}`,
    );
    return fail(what.join(", "), reapply({ env }));
  }
  if (unknown.length > 0) {
    const kinds = unknown.map(({ kind }) => kind).join(" and ");
    return warn(`the cluster has no ${kinds}`, "Policies came with Kubernetes 1.30.");
  }
  return ok("roles, bindings and policy are as in the manifest");
}
