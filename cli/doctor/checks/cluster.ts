import { whyUnusable } from "../../../lambda/aws/usable-cluster.ts";
import { type Duration, minutes } from "../../../lambda/core/duration.ts";
import { holderName } from "../../../lambda/core/marks/keys.ts";
import { SettingEnvironment } from "../../../lambda/environment.ts";
import type { FunctionFacts } from "../aws/account.ts";
import { type Doctor, hasNodeEvents, isAuto, modeOf, reapply } from "../doctor.ts";
import type { Check } from "../facts.ts";
import { type Found, fail, ok, warn } from "../finding.ts";

/** A deployment takes less time; after that, an admin right was left by a killed invocation. */
const longestInvocation: Duration = minutes(15);

/** The cluster as EKS knows it, who may log in, and what is written in it. */
export const ofCluster: readonly Check[] = [
  {
    link: "cluster",
    async find({ doctor, functions }) {
      const { cluster: name, account } = doctor;
      const cluster = await account.cluster();
      const why = whyUnusable(name, cluster, functions.control);
      if (why) return fail(why.reason, why.remedy);
      return ok(`${name}, Kubernetes ${cluster?.version}, ${cluster?.authenticationMode}`);
    },
  },
  {
    link: "access entries",
    follows: ["cluster"],
    async find({ doctor, functions }) {
      const found = await Promise.all(
        Object.values(functions).map(
          async (fn) => [fn, await doctor.account.accessGroups(fn.roleArn)] as const,
        ),
      );
      const wrong = found.filter(([, groups]) => !groups?.includes(holderName));
      if (wrong.length === 0) return ok(`${found.length} roles in group ${holderName}`);
      return wrong.map(([fn, groups]) => locked(doctor, fn, groups));
    },
  },
  {
    link: "access entries",
    find: ({ doctor }) => lastingAdmin(doctor),
  },
  {
    link: "manifest",
    async find({ doctor: { compareManifest }, functions: { control } }) {
      if (!compareManifest) return [];
      const { [SettingEnvironment.holdAnnotation]: annotation = "" } = control.env;
      const rights = { mode: modeOf(control), auto: isAuto(control), nodeEvents: hasNodeEvents(control) };
      const found = await compareManifest(annotation, rights);
      const wrong = found.filter(({ state }) => state === "missing" || state === "different");
      if (wrong.length > 0) {
        const what = wrong.map(
          ({ kind, state }) => `${kind} is ${state === "missing" ? "missing" : "not as in the manifest"}`,
        );
        return fail(what.join(", "), reapply(control));
      }
      const unknown = found.filter(({ state }) => state === "unknown to this cluster");
      if (unknown.length === 0) return ok("roles, bindings and policy are as in the manifest");
      const kinds = unknown.map(({ kind }) => kind).join(" and ");
      return warn(`the cluster has no ${kinds}`, "Policies came with Kubernetes 1.30.");
    },
  },
];

/** The function that installs the access is an admin of the cluster only while it works. */
async function lastingAdmin({ account, cluster, clock }: Doctor): Promise<readonly Found[]> {
  const installer = await account.functionOf("cluster-access");
  const since = installer && (await account.adminSince(installer.roleArn));
  if (!since) return [];
  const what = `${installer.name} is an admin of ${cluster} since ${since.toISOString()}`;
  if (clock.now().getTime() - since.getTime() < longestInvocation)
    return [warn(`${what}: is a deployment running?`, "Check again in 15 minutes.")];
  const remedy = `aws eks delete-access-entry --cluster-name ${cluster} --principal-arn ${installer.roleArn}`;
  const fix = {
    action: `remove the admin right of ${installer.name}`,
    apply: () => account.deleteEntry(installer.roleArn),
  };
  return [fail(`${what}, and no deployment takes that long`, remedy, fix)];
}

function locked(
  doctor: Doctor,
  { name, roleArn }: FunctionFacts,
  groups: readonly string[] | undefined,
): Found {
  const what = groups
    ? `the access entry of ${name} is not in group ${holderName}`
    : `${name} has no access entry: the cluster does not let it in`;
  const remedy =
    `aws eks ${groups ? "update" : "create"}-access-entry --cluster-name ${doctor.cluster} ` +
    `--principal-arn ${roleArn} --kubernetes-groups ${holderName}`;
  const fix = { action: `let ${name} into the cluster again`, apply: () => doctor.account.admit(roleArn) };
  return fail(what, remedy, fix);
}
