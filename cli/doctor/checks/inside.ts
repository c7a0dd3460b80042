import type { ClusterFindings, KeptNode } from "../../../lambda/core/operate/check.ts";
import { about } from "../../terminal/times.ts";
import type { FunctionFacts } from "../aws/account.ts";
import { reapply } from "../doctor.ts";
import { type Finding, fail, ok, skipped, warn } from "../finding.ts";
import type { Inside } from "../inside.ts";

/** The functions can log in to the cluster. */
export const checkLogin = ({ cluster }: Inside): Finding[] => [
  cluster.works
    ? ok("login", `the functions can log in, Kubernetes ${cluster.kubernetes}`)
    : fail(
        "login",
        cluster.because,
        "Check the access entries and the network between functions and cluster.",
      ),
];

/** Role and binding give what is needed, and no more. */
export function checkRights(
  { missingRights, needlessRights }: ClusterFindings,
  control: FunctionFacts,
): Finding[] {
  const withoutNodes = missingRights.filter((right) => !right.endsWith(" nodes"));
  if (missingRights.length > 0 && withoutNodes.length === missingRights.length) {
    const what =
      `the functions may not ${missingRights.join(", ")}: every launch counts as demand, also those that only ` +
      "replace nodes, and launches alone extend a hold";
    return [warn("rights", what, reapply(control))];
  }
  if (missingRights.length > 0) {
    const what = `the functions may not ${missingRights.join(", ")}: ClusterRole or binding is not as it was written`;
    return [fail("rights", what, reapply(control))];
  }
  if (needlessRights.length > 0) {
    const what = `the functions may ${needlessRights.join(", ")}, which they never need`;
    return [
      warn("rights", what, "Find the other binding that names group karpenter-node-holder or their roles."),
    ];
  }
  return [ok("rights", "all that functions of this version need, and no more")];
}

/** The cluster itself refuses what the holder must not do, and admits its marks. */
export function checkPolicy(found: ClusterFindings, control: FunctionFacts): Finding[] {
  const { foreignChange, ownChange, said = "", kubernetes, nodes } = found;
  if (ownChange === "refused") {
    const what = `the cluster refuses our mark: ${said}`;
    return [
      fail(
        "policy",
        what,
        `Is the policy for another annotation or deployment? Write it again: ${reapply(control)}`,
      ),
    ];
  }
  if (foreignChange === "admitted") {
    if (isOlderThanPolicies(kubernetes)) {
      const what = `Kubernetes ${kubernetes} has no admission policies: only our own code limits us to marks`;
      return [warn("policy", what, "Policies came with Kubernetes 1.30.")];
    }
    const what =
      "the admission policy is missing or not bound: it admitted a change that the holder must not make (dry run)";
    return [fail("policy", what, reapply(control))];
  }
  if (foreignChange === "refused") return [ok("policy", "refuses other changes, admits our mark (dry run)")];
  const why = nodes === 0 ? "there is no node of Karpenter to try it on" : said || "no node could be tried";
  return [skipped("policy", why)];
}

/** The functions see what EC2 launches. */
export const checkLaunches = ({ launches }: Inside): Finding[] => [
  launches.works
    ? ok("launches", `${launches.recent} launched within the last hour`)
    : fail(
        "launches",
        `the functions cannot ask EC2: ${launches.because}`,
        "Check their roles: ec2:DescribeInstances.",
      ),
];

const fewest = 60_000;

/** Nodes that stay for another reason than a hold. */
export function checkNodes({ nodes, stuck, userHeld }: ClusterFindings, now: Date): Finding[] {
  const findings: Finding[] = [];
  if (stuck.length > 0) {
    const what = `${count(stuck)} waiting for Karpenter to let them go: ${names(stuck, now)}`;
    const remedy =
      "Is Karpenter running? If it is, look for pods that cannot be evicted. If it is gone for good, remove its finalizer " +
      "karpenter.sh/termination and terminate the instances yourself.";
    findings.push(warn("nodes", what, remedy));
  }
  if (userHeld.length > 0) {
    const what = `${count(userHeld)} held by their users for more than a day: ${names(userHeld, now)}`;
    findings.push(
      warn("nodes", what, "These are not our holds: remove the annotation where it is no longer needed."),
    );
  }
  return findings.length > 0
    ? findings
    : [
        ok(
          "nodes",
          `${nodes} of Karpenter, none stuck in its deletion, none held by its user for more than a day`,
        ),
      ];
}

const count = (nodes: readonly KeptNode[]): string =>
  nodes.length === 1
    ? "1 node is"
    : `${nodes.length >= 20 ? "20 nodes or more" : `${nodes.length} nodes`} are`;

function names(nodes: readonly KeptNode[], now: Date): string {
  const shown = nodes.slice(0, 5).map(({ node, since, by }) => {
    const age = about(Math.max(fewest, now.getTime() - since.getTime()));
    return `${node} (${age}${by ? `, by ${by}` : ""})`;
  });
  return shown.join(", ") + (nodes.length > shown.length ? ", …" : "");
}

function isOlderThanPolicies(kubernetes: string): boolean {
  const [, major = "1", minor = "30"] = /^v?(\d+)\.(\d+)/.exec(kubernetes) ?? [];
  return Number(major) === 1 && Number(minor) < 30;
}
