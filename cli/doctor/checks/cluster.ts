import { whyUnusable } from "../../../lambda/aws/usable-cluster.ts";
import { type Duration, minutes } from "../../../lambda/core/duration.ts";
import { holderName, Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { KeptNode } from "../../../lambda/core/operate/check.ts";
import { writesNodeEvents } from "../../../lambda/core/rules.ts";
import { applyManifest } from "../../../local/run/rights.ts";
import { about, quoted } from "../../terminal/text.ts";
import { withOurs } from "../aws/aws-account.ts";
import { type Checks, policiesCame } from "../doctor.ts";
import { type Findings, type Found, fail, fewOf, ok, orOk, skipped, warn } from "../finding.ts";
import type { Inside } from "../inside.ts";
import { ofEach } from "./functions.ts";

const { annotation } = Karpenter.v1;

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
        const [what, verb] = groups
          ? [`the access entry of ${name} is not in group ${holderName}`, "update"]
          : [`${name} has no access entry: the cluster does not let it in`, "create"];
        const remedy =
          `aws eks ${verb}-access-entry --cluster-name ${cluster} ` +
          `--principal-arn ${roleArn} --kubernetes-groups ${withOurs(groups).map(quoted).join(" ")}`;
        return fail(what, remedy, {
          action: `let ${name} into the cluster again`,
          apply: () => account.admit(cluster, roleArn),
        });
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
  async manifest({ compareManifest, answers, server }) {
    if (!compareManifest) return [];
    const { rules } = await answers.control;
    const found = await compareManifest({ ...rules, nodeEvents: writesNodeEvents(rules) });
    const wrong = found.filter(({ state }) => state !== "right");
    if (wrong.length === 0) return ok("roles, bindings and policy are as in the manifest");
    const what = `in ${server}: ${wrong.map(({ kind, state }) => `${kind} is ${state}`).join(", ")}`;
    const canBeWritten = wrong.some(({ state }) => state !== "unknown to this cluster");
    return canBeWritten ? fail(what, applyManifest(rules)) : warn(what, policiesCame);
  },
  login: ofEach(loginOf),
  rights: ofEach(rightsOf),
  policy: ofEach(policyOf),
  nodes: async ({ answers }) => nodesOf(await answers.control),
} satisfies Checks;

function loginOf({ cluster }: Inside): Found {
  if (cluster.works) return ok(`can log in, Kubernetes ${cluster.kubernetes}`);
  const remedy = "Check the access entries and the network between functions and cluster.";
  return fail(`cannot log in: ${cluster.because}`, remedy);
}

const without: Readonly<Record<string, string>> = {
  "list nodeclaims": "drifted nodes are held, too, and a launch whose event is lost is found by its node",
  "create events": "nodes get no Events",
};

/** Role and binding give what is needed, and no more. */
function rightsOf({ cluster, rules }: Inside): Found | undefined {
  if (!cluster.works) return undefined;
  const { missingRights, needlessRights } = cluster;
  const write = applyManifest(rules);
  const mayNot = `may not ${missingRights.join(", ")}`;
  if (missingRights.some((right) => right.endsWith(" nodes")))
    return fail(`${mayNot}: ClusterRole or binding is not as it was written`, write);
  if (missingRights.length > 0) {
    const so = new Set(missingRights.map((right) => without[right] ?? "hold=auto behaves as hold=20m"));
    return warn(`${mayNot}: ${[...so].join("; ")}`, write);
  }
  if (needlessRights.length === 0) return ok("have all rights that they need, and no more");
  const other = "find the other binding that names group karpenter-node-holder or their roles.";
  return warn(
    `may ${needlessRights.join(", ")}, which they do not need`,
    `${write}; if they still may, ${other}`,
  );
}

/** The cluster itself refuses what the holder must not do, and admits its marks. */
function policyOf({ cluster, rules }: Inside): Found | undefined {
  if (!cluster.works) return undefined;
  const { foreignChange, ownChange, said, kubernetes, nodes } = cluster;
  // Without the right to patch, every change is refused, whatever the policy says.
  if (rules.mode === "observe" && foreignChange !== "admitted")
    return skipped("may not change nodes: mode=observe");
  if (ownChange === "refused") {
    const remedy = `Is the policy for another annotation or deployment? Write it again: ${applyManifest(rules)}`;
    return fail(`may not mark nodes: ${said}`, remedy);
  }
  if (foreignChange === "admitted") {
    const what = "could change more than marks (dry run)";
    if (Number(/v1\.(\d+)/.exec(kubernetes)?.[1]) < 30)
      return warn(`${what}: Kubernetes ${kubernetes} has no admission policies`, policiesCame);
    return fail(`${what}: the admission policy is missing or not bound`, applyManifest(rules));
  }
  if (foreignChange === "refused" && ownChange === "admitted")
    return ok("may mark nodes and change nothing else (dry run)");
  return skipped(nodes === 0 ? "found no node of Karpenter to try it on" : `could not try it: ${said}`);
}

/** Nodes that stay for another reason than a hold. */
function nodesOf({ cluster, at }: Inside): Findings {
  if (!cluster.works || cluster.missingRights.includes("list nodes")) return [];
  const { nodes, stuck, userHeld, ineffective } = cluster;
  const aged = ({ node, since, by }: KeptNode) =>
    `${node} (${about(at.getTime() - since.getTime())}${by ? `, by ${by}` : ""})`;
  const values = ineffective.map(({ node, value }) => `${node} (${JSON.stringify(value)})`);
  const gone =
    "Is Karpenter running? If it is, look for pods that cannot be evicted. If it is gone for good, remove its finalizer " +
    "karpenter.sh/termination and terminate the instances yourself.";
  const theirs = "No hold owns these annotations: remove those that are no longer needed.";
  const useless =
    'Karpenter 1.0 and later accepts only "true" there (durations are for Pods), and the holder leaves such a node to ' +
    'its user: nothing protects it. Write "true", or remove the annotation, also in the template of its NodePool.';
  return orOk(
    [
      stuck.length > 0 && warn(`stuck in their deletion: ${fewOf(stuck.map(aged))}`, gone),
      userHeld.length > 0 &&
        warn(`held by their users for more than a day: ${fewOf(userHeld.map(aged))}`, theirs),
      values.length > 0 && warn(`${annotation} protects nothing on ${fewOf(values)}`, useless),
    ],
    `${nodes} of Karpenter, none stuck in its deletion or held by its user for more than a day`,
  );
}
