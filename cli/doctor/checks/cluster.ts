import { whyUnusable } from "../../../lambda/aws/usable-cluster.ts";
import { type Duration, minutes } from "../../../lambda/core/duration.ts";
import { holderName } from "../../../lambda/core/marks/keys.ts";
import { writesNodeEvents } from "../../../lambda/core/rules.ts";
import { type Checks, policiesCame, reapply } from "../doctor.ts";
import { fail, ok, orOk, warn } from "../finding.ts";

/** A deployment takes less time; after that, an admin right was left by a killed invocation. */
const longestInvocation: Duration = minutes(15);

/** The cluster as EKS knows it, who may log in, and what is written in it. */
export const ofCluster = {
  async cluster({ account, cluster: name, functions }) {
    const cluster = await account.cluster(name);
    const why = whyUnusable(name, cluster, functions.control);
    if (why) return fail(why.reason, why.remedy);
    return ok(`${name}, Kubernetes ${cluster?.version}, ${cluster?.authenticationMode}`);
  },
  async "access entries"({ account, cluster, functions }) {
    const found = await Promise.all(
      Object.values(functions).map(async ({ name, roleArn }) => {
        const groups = await account.accessGroups(cluster, roleArn);
        if (groups?.includes(holderName)) return false;
        const what = groups
          ? `the access entry of ${name} is not in group ${holderName}`
          : `${name} has no access entry: the cluster does not let it in`;
        const remedy =
          `aws eks ${groups ? "update" : "create"}-access-entry --cluster-name ${cluster} ` +
          `--principal-arn ${roleArn} --kubernetes-groups ${holderName}`;
        const fix = {
          action: `let ${name} into the cluster again`,
          apply: () => account.admit(cluster, roleArn),
        };
        return fail(what, remedy, fix);
      }),
    );
    return orOk(found, `${found.length} roles in group ${holderName}`);
  },
  // The function that installs the access is an admin of the cluster only while it works.
  async admin({ account, clock, cluster }) {
    const installer = await account.functionOf("cluster-access");
    const since = installer && (await account.adminSince(cluster, installer.roleArn));
    if (!since) return [];
    const { name, roleArn } = installer;
    const what = `${name} is an admin of ${cluster} since ${since.toISOString()}`;
    if (clock.now().getTime() - since.getTime() < longestInvocation)
      return warn(`${what}: is a deployment running?`, "Check again in 15 minutes.");
    const remedy = `aws eks delete-access-entry --cluster-name ${cluster} --principal-arn ${roleArn}`;
    return fail(`${what}, and no deployment takes that long`, remedy, {
      action: `remove the admin right of ${name}`,
      apply: () => account.deleteEntry(cluster, roleArn),
    });
  },
  async manifest({ compareManifest, answers }) {
    if (!compareManifest) return [];
    const { rules } = await answers.control;
    const found = await compareManifest({ ...rules, nodeEvents: writesNodeEvents(rules) });
    const wrong = found.filter(({ state }) => state !== "right");
    if (wrong.length === 0) return ok("roles, bindings and policy are as in the manifest");
    const what = wrong.map(({ kind, state }) => `${kind} is ${state}`).join(", ");
    const canBeWritten = wrong.some(({ state }) => state !== "unknown to this cluster");
    return canBeWritten ? fail(what, reapply(rules)) : warn(what, policiesCame);
  },
} satisfies Checks;
