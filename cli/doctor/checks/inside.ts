import { Karpenter } from "../../../lambda/core/marks/keys.ts";
import type { KeptNode } from "../../../lambda/core/operate/check.ts";
import { about } from "../../terminal/text.ts";
import { type Checks, policiesCame, reapply, watched } from "../doctor.ts";
import { type Findings, type Found, fail, isWrong, ok, orOk, skipped, unread, warn } from "../finding.ts";
import type { Inside } from "../inside.ts";

const { annotation } = Karpenter.v1;

/** What the functions find out themselves; each is asked, because each has a role, an environment and a network of its own. */
export const ofInside = {
  record: ofEach(recordOf),
  login: ofEach(loginOf),
  rights: ofEach(rightsOf),
  policy: ofEach(policyOf),
  launches: ofEach(launchesOf),
  nodes: async ({ answers }) => nodesOf(await answers.control),
} satisfies Checks;

/**
 * What a function can do, as the rest of a sentence that begins with it: one where all that answered found the same; else
 * those of the functions that found something wrong.
 */
export function ofEach(judge: (inside: Inside) => Found | undefined): Checks[string] {
  return async ({ answers, functions }) => {
    const asked = watched.map(async (part) => {
      const unasked = (error: unknown) => unread(error, `${functions[part].name} could not be asked`);
      const one = await answers[part].then(judge, unasked);
      return one ? [{ who: `the ${part} function`, one }] : [];
    });
    const all = (await Promise.all(asked)).flat();
    const unanswered = all.flatMap(({ one }) => (one.error === undefined ? [] : [one]));
    const answered = all.filter(({ one }) => one.error === undefined);
    const isSame = new Set(answered.map(({ one }) => one.what)).size === 1;
    const wrong = isSame ? [] : answered.filter(({ one }) => isWrong(one));
    const together = answered.slice(0, 1).map(({ one }) => ({ who: "the functions", one }));
    const found = wrong.length > 0 ? wrong : together;
    return [...unanswered, ...found.map(({ who, one }) => ({ ...one, what: `${who} ${one.what}` }))];
  };
}

function recordOf({ record, write }: Inside): Found {
  if (!record.works) return fail(`cannot read it: ${record.because}`);
  return write.works ? ok("can read it and write to it") : fail(`cannot write to it: ${write.because}`);
}

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
  const write = reapply(rules);
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
    const remedy = `Is the policy for another annotation or deployment? Write it again: ${reapply(rules)}`;
    return fail(`may not mark nodes: ${said}`, remedy);
  }
  if (foreignChange === "admitted") {
    const what = "could change more than marks (dry run)";
    if (Number(/^v1\.(\d+)/.exec(kubernetes)?.[1]) < 30)
      return warn(`${what}: Kubernetes ${kubernetes} has no admission policies`, policiesCame);
    return fail(`${what}: the admission policy is missing or not bound`, reapply(rules));
  }
  if (foreignChange === "refused" && ownChange === "admitted")
    return ok("may mark nodes and change nothing else (dry run)");
  return skipped(nodes === 0 ? "found no node of Karpenter to try it on" : `could not try it: ${said}`);
}

/** The release function asks EC2 nothing. */
function launchesOf({ launches }: Inside): Found | undefined {
  if (!launches) return undefined;
  if (launches.works) return ok(`see ${launches.recent} launches of the last hour`);
  return fail(`cannot ask EC2: ${launches.because}`);
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
  const theirs = "The holder did not set these annotations: remove those that are no longer needed.";
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

/** A line has room for five. */
export const fewOf = (names: readonly string[]): string =>
  [...names.slice(0, 5), ...(names.length > 5 ? ["…"] : [])].join(", ");
