import type { ClusterFindings, KeptNode } from "../../../lambda/core/operate/inspection.ts";
import { about } from "../../terminal/times.ts";
import type { FunctionFacts } from "../aws/account.ts";
import { reapply } from "../doctor.ts";
import { type Finding, fail, ok, skipped, warn } from "../finding.ts";
import type { Inside } from "../inside.ts";

/** The functions get into the cluster. */
export const checkLogin = ({ cluster }: Inside): Finding[] => [
  cluster.works
    ? ok("login", `the functions are let in, Kubernetes ${cluster.kubernetes}`)
    : fail(
        "login",
        cluster.because,
        "Look at the access entries and at the network between functions and cluster.",
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
      warn("rights", what, "Look which other binding names group karpenter-node-holder or their roles."),
    ];
  }
  return [ok("rights", "all that functions of this version need, and nothing beyond")];
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
        `Is it of another annotation or another deployment? Write it again: ${reapply(control)}`,
      ),
    ];
  }
  if (foreignChange === "admitted") {
    if (isOlderThanPolicies(kubernetes)) {
      const what = `Kubernetes ${kubernetes} knows no admission policies: only our own code keeps us to our marks`;
      return [warn("policy", what, "Policies came with Kubernetes 1.30.")];
    }
    const what =
      "the admission policy is missing or not bound: a change that is not ours to make was admitted (dry run)";
    return [fail("policy", what, reapply(control))];
  }
  if (foreignChange === "refused")
    return [ok("policy", "refuses what is not ours, admits our mark (dry run)")];
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
        "Look at their roles: ec2:DescribeInstances.",
      ),
];

const fewest = 60_000;

/** What only looks like a hold. */
export function checkNodes({ nodes, stuck, userHeld }: ClusterFindings, now: Date): Finding[] {
  const findings: Finding[] = [];
  if (stuck.length > 0) {
    const what = `${count(stuck)} waiting for Karpenter to let them go: ${names(stuck, now)}`;
    const remedy =
      "Is Karpenter running? If it is, look for pods that cannot be evicted. If it is gone for good, take its finalizer " +
      "karpenter.sh/termination off and end the instances yourself.";
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
