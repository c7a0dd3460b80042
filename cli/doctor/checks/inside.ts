import type { ClusterFindings, KeptNode } from "../../../lambda/core/operate/check.ts";
import { about } from "../../terminal/text.ts";
import type { FunctionFacts } from "../aws/account.ts";
import { modeOf, reapply } from "../doctor.ts";
import { type Check, type Facts, NotThere } from "../facts.ts";
import { type Findings, type Found, fail, ok, skipped, warn } from "../finding.ts";
import type { Inside } from "../inside.ts";

/** What the functions find out themselves; each is asked, because each has a role, an environment and a network of its own. */
export const ofInside: readonly Check[] = [
  { link: "record", follows: ["functions", "record"], find: (see) => ofEach(see, recordOf) },
  { link: "login", follows: ["functions", "cluster", "access entries"], find: (see) => ofEach(see, loginOf) },
  {
    link: "rights",
    follows: ["access entries", "manifest"],
    find: (see) =>
      ofEach(
        see,
        inCluster((found, who) => rightsOf(found, who, see.functions.control)),
      ),
  },
  {
    link: "policy",
    follows: ["access entries", "manifest", "rights"],
    find: (see) =>
      ofEach(
        see,
        inCluster((found) => policyOf(found, see.functions.control)),
      ),
  },
  {
    link: "nodes",
    async find({ answers }) {
      const { cluster, at } = (await answers.control()).inside;
      if (!cluster.works) throw new NotThere();
      return nodesOf(cluster, at);
    },
  },
  { link: "launches", find: (see) => ofEach(see, launchesOf) },
  {
    link: "launches",
    async find({ doctor }) {
      const buffers = (await doctor.findCapacityBuffers?.()) ?? [];
      if (buffers.length === 0) return [];
      const shown = namesOfNodes(buffers, "…").join(", ");
      const what = `each launch that fills a CapacityBuffer holds nodes, although no pod waits for it: ${shown}`;
      return warn(
        what,
        "To hold nothing for it, give it a NodePool of its own, and leave that out with nodePools.",
      );
    },
  },
];

/** What a function found; undefined where it did not look. */
type Judge = (inside: Inside, who: string) => Findings | undefined;

/** One finding where all functions found the same; else those of the functions that found something wrong. */
async function ofEach({ answered }: Facts, judge: Judge): Promise<Findings> {
  const answers = await answered();
  const all = answers.map(({ inside }) => judge(inside, "the functions")).filter((one) => one !== undefined);
  const texts = new Set(all.map((found) => JSON.stringify(found)));
  const each = answers.flatMap(({ part, inside }) => judge(inside, `the ${part} function`) ?? []);
  const troubles = each.filter(({ verdict }) => verdict === "fail" || verdict === "warn");
  return texts.size > 1 && troubles.length > 0 ? troubles : (all[0] ?? []);
}

const inCluster =
  (judge: (found: ClusterFindings, who: string) => Findings): Judge =>
  ({ cluster }, who) =>
    cluster.works ? judge(cluster, who) : undefined;

function recordOf({ record, write }: Inside, who: string): Findings {
  const remedy = "Check the table and the role.";
  if (!record.works) return fail(`${who} cannot read it: ${record.because}`, remedy);
  return write.works ? [] : fail(`${who} cannot write to it: ${write.because}`, remedy);
}

function loginOf({ cluster }: Inside, who: string): Findings {
  if (cluster.works) return ok(`${who} can log in, Kubernetes ${cluster.kubernetes}`);
  const what = who === "the functions" ? cluster.because : `${who}: ${cluster.because}`;
  return fail(what, "Check the access entries and the network between functions and cluster.");
}

const withoutClaims = "drifted nodes are held, too, and a launch whose event is lost is found by its node";

const withoutEvents = "nodes get no Events";

const withoutPods = "hold=auto cannot see what nodes carry, and each launch holds for 20m";

const consequences: Readonly<Record<string, string>> = {
  "list nodeclaims": withoutClaims,
  "create events": withoutEvents,
};

/** Role and binding give what is needed, and no more. */
function rightsOf(
  { missingRights, needlessRights }: ClusterFindings,
  who: string,
  control: FunctionFacts,
): Findings {
  const withoutNodes = missingRights.filter((right) => !right.endsWith(" nodes"));
  if (missingRights.length > 0 && withoutNodes.length === missingRights.length) {
    const so = new Set(missingRights.map((right) => consequences[right] ?? withoutPods));
    return warn(`${who} may not ${missingRights.join(", ")}: ${[...so].join("; ")}`, reapply(control));
  }
  if (missingRights.length > 0) {
    const what = `${who} may not ${missingRights.join(", ")}: ClusterRole or binding is not as it was written`;
    return fail(what, reapply(control));
  }
  if (needlessRights.length > 0) {
    const what = `${who} may ${needlessRights.join(", ")}, which they do not need`;
    const remedy =
      "if they still may, find the other binding that names group karpenter-node-holder or their roles.";
    return warn(what, `${reapply(control)}; ${remedy}`);
  }
  return ok("all that functions of this version need, and no more");
}

/** The cluster itself refuses what the holder must not do, and admits its marks. */
function policyOf(found: ClusterFindings, control: FunctionFacts): Findings {
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
  if (found.missingRights.includes("list nodes")) return skipped(unlisted);
  const why = nodes === 0 ? "there is no node of Karpenter to try it on" : said || "no node could be tried";
  return skipped(why);
}

export const unlisted = 'follows from "rights": the functions may not list nodes';

/** The functions see what EC2 launches; the release function has no need to. */
function launchesOf({ launches }: Inside, who: string): Findings | undefined {
  if (!launches) return undefined;
  if (launches.works) return ok(`${launches.recent} launched within the last hour`);
  return fail(`${who} cannot ask EC2: ${launches.because}`, "Check the role: ec2:DescribeInstances.");
}

const fewest = 60_000;

/** Nodes that stay for another reason than a hold. */
function nodesOf({ nodes, stuck, userHeld, missingRights }: ClusterFindings, now: Date): Findings {
  if (missingRights.includes("list nodes")) return skipped(unlisted);
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
  if (findings.length > 0) return findings;
  return ok(`${nodes} of Karpenter, none stuck in its deletion, none held by its user for more than a day`);
}

const manyOf = (nodes: readonly KeptNode[]): string =>
  nodes.length === 1
    ? "1 node is"
    : `${nodes.length >= 20 ? "20 nodes or more" : `${nodes.length} nodes`} are`;

function names(nodes: readonly KeptNode[], now: Date): string {
  const all = nodes.map(({ node, since, by }) => {
    const age = about(Math.max(fewest, now.getTime() - since.getTime()));
    return `${node} (${age}${by ? `, by ${by}` : ""})`;
  });
  return namesOfNodes(all, "…").join(", ");
}

/** A line has room for five. */
export const namesOfNodes = (all: readonly string[], more = "more nodes"): readonly string[] =>
  all.length > 5 ? [...all.slice(0, 5), more] : all;

function isOlderThanPolicies(kubernetes: string): boolean {
  const [, minor] = /^v1\.(\d+)/.exec(kubernetes) ?? [];
  return Number(minor) < 30;
}
