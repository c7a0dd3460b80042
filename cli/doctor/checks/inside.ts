import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { ClusterFindings, KeptNode } from "../../../lambda/core/operate/check.ts";
import { about } from "../../terminal/text.ts";
import type { FunctionFacts } from "../aws/account.ts";
import { type Doctor, modeOf, reapply } from "../doctor.ts";
import { type Findings, type Found, fail, ok, skipped, warn } from "../finding.ts";
import type { Inside } from "../inside.ts";

/** The functions can log in to the cluster. */
export const checkLogin = ({ cluster }: Inside): Findings =>
  cluster.works
    ? ok(`the functions can log in, Kubernetes ${cluster.kubernetes}`)
    : fail(cluster.because, "Check the access entries and the network between functions and cluster.");

const withoutClaims = "drifted nodes are held, too, and a launch whose event is lost is found by its node";

const withoutPods = "hold=auto cannot see what nodes carry, and each launch holds for 20m";

/** Role and binding give what is needed, and no more. */
export function checkRights(
  { missingRights, needlessRights }: ClusterFindings,
  control: FunctionFacts,
): Findings {
  const withoutNodes = missingRights.filter((right) => !right.endsWith(" nodes"));
  if (missingRights.length > 0 && withoutNodes.length === missingRights.length) {
    const ofPods = missingRights.some((right) => !right.endsWith("nodeclaims")) ? [withoutPods] : [];
    const ofClaims = missingRights.some((right) => right.endsWith("nodeclaims")) ? [withoutClaims] : [];
    const so = [...ofPods, ...ofClaims].join("; ");
    return warn(`the functions may not ${missingRights.join(", ")}: ${so}`, reapply(control));
  }
  if (missingRights.length > 0) {
    const what = `the functions may not ${missingRights.join(", ")}: ClusterRole or binding is not as it was written`;
    return fail(what, reapply(control));
  }
  if (needlessRights.length > 0) {
    const what = `the functions may ${needlessRights.join(", ")}, which they do not need`;
    const remedy =
      "if they still may, find the other binding that names group karpenter-node-holder or their roles.";
    return warn(what, `${reapply(control)}; ${remedy}`);
  }
  return ok("all that functions of this version need, and no more");
}

/** The cluster itself refuses what the holder must not do, and admits its marks. */
export function checkPolicy(found: ClusterFindings, control: FunctionFacts): Findings {
  const { foreignChange, ownChange, said = "", kubernetes, nodes } = found;
  // Without the right to patch, every change is refused, whatever the policy says.
  if (modeOf(control) === "observe" && foreignChange !== "admitted")
    return skipped("mode=observe: the functions may not change nodes");
  if (ownChange === "refused") {
    const remedy = `Is the policy for another annotation or deployment? Write it again: ${reapply(control)}`;
    return fail(`the cluster refuses our mark: ${said}`, remedy);
  }
  if (foreignChange === "admitted") {
    if (isOlderThanPolicies(kubernetes)) {
      const what = `Kubernetes ${kubernetes} has no admission policies: only our own code limits us to marks`;
      return warn(what, "Policies came with Kubernetes 1.30.");
    }
    const what =
      "the admission policy is missing or not bound: it admitted a change that the holder must not make (dry run)";
    return fail(what, reapply(control));
  }
  if (foreignChange === "refused") return ok("refuses other changes, admits our mark (dry run)");
  if (cannotList(found)) return unlisted;
  const why = nodes === 0 ? "there is no node of Karpenter to try it on" : said || "no node could be tried";
  return skipped(why);
}

const cannotList = ({ missingRights }: Pick<ClusterFindings, "missingRights">): boolean =>
  missingRights.includes("list nodes");
const unlisted = skipped('follows from "rights": the functions may not list nodes');

/** The functions see what EC2 launches. */
export async function checkLaunches(
  { findCapacityBuffers }: Pick<Doctor, "findCapacityBuffers">,
  { launches }: Inside,
): Promise<Findings> {
  if (!launches.works)
    return fail(
      `the functions cannot ask EC2: ${launches.because}`,
      "Check their roles: ec2:DescribeInstances.",
    );
  const buffers = (await findCapacityBuffers?.()) ?? [];
  if (buffers.length === 0) return ok(`${launches.recent} launched within the last hour`);
  const shown = buffers.slice(0, 5).join(", ") + (buffers.length > 5 ? ", …" : "");
  const what = `each launch that fills a CapacityBuffer holds nodes, although no pod waits for it: ${shown}`;
  return warn(
    what,
    "To hold nothing for it, give it a NodePool of its own, and leave that out with nodePools.",
  );
}

const fewest = 60_000;

/** Nodes that stay for another reason than a hold. */
export function checkNodes(found: ClusterFindings, now: Date): Findings {
  const { nodes, stuck, userHeld } = found;
  if (cannotList(found)) return unlisted;
  const findings: Found[] = [];
  if (stuck.length > 0) {
    const what = `${manyOf(stuck)} waiting for Karpenter to let them go: ${names(stuck, now)}`;
    const remedy =
      "Is Karpenter running? If it is, look for pods that cannot be evicted. If it is gone for good, remove its finalizer " +
      "karpenter.sh/termination and terminate the instances yourself.";
    findings.push(warn(what, remedy));
  }
  if (userHeld.length > 0) {
    const what = `${manyOf(userHeld)} held by their users for more than a day: ${names(userHeld, now)}`;
    findings.push(warn(what, "These are not our holds: remove the annotation where it is no longer needed."));
  }
  return findings.length > 0
    ? findings
    : ok(`${nodes} of Karpenter, none stuck in its deletion, none held by its user for more than a day`);
}

const manyOf = (nodes: readonly KeptNode[]): string =>
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
  const [, minor] = /^v1\.(\d+)/.exec(kubernetes) ?? [];
  return Number(minor) < 30;
}

const remedy =
  'Karpenter 1.0 and later accepts only "true" there (durations are for Pods), and the holder leaves such a node to ' +
  'its user: nothing protects it. Write "true", or remove the annotation.';

/** Annotations with a value that protects nothing, although their users expect it to. */
export async function checkAnnotations(
  { findIneffectiveTemplates }: Pick<Doctor, "findIneffectiveTemplates">,
  { missingRights, ineffective }: Pick<ClusterFindings, "missingRights" | "ineffective">,
): Promise<Findings> {
  const templates = (await findIneffectiveTemplates?.()) ?? [];
  const found = [
    ...templates.map(({ nodePool, value }) => `the template of NodePool ${nodePool} (${quoted(value)})`),
    ...ineffective.slice(0, 5).map(({ node, value }) => `node ${node} (${quoted(value)})`),
    ...(ineffective.length > 5 ? ["more nodes"] : []),
  ];
  if (found.length === 0) return cannotList({ missingRights }) ? unlisted : ok("every one protects its node");
  return warn(`${Karpenter.v1.annotation} protects nothing on ${found.join(", ")}`, remedy);
}

const quoted = (value: string): string => JSON.stringify(value);
