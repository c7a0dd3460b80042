import { setTimeout } from "node:timers/promises";
import { ofAlarms } from "./checks/alarms.ts";
import { ofCluster } from "./checks/cluster.ts";
import { findFunctions, ofFunctions } from "./checks/functions.ts";
import { ofHolds } from "./checks/holds.ts";
import { ofInside } from "./checks/inside.ts";
import { checkProbe, ofLaunchPath } from "./checks/launch-path.ts";
import { ofNodePools } from "./checks/nodepools.ts";
import { ofSchedules } from "./checks/schedules.ts";
import { type Check, type Doctor, factsOf, redeploy } from "./doctor.ts";
import { byHand, type Finding, type Findings, fail, isWrong, ok, shown, skipped, unread } from "./finding.ts";

/** Everything that is checked once the functions are found; causes come before what follows from them. */
const checks: readonly Check[] = [
  ...ofFunctions,
  ...ofLaunchPath,
  ...ofSchedules,
  ...ofCluster,
  ...ofInside,
  ...ofHolds,
  ...ofNodePools,
  ...ofAlarms,
];

/** A function that is asked answers sooner, or is in trouble. */
const longest = 130_000;

/**
 * Checks every link of the chain. What can be read at the same time is; findings come in the order of the checks. A
 * failure that only follows from another is marked as such, and an error is reported once.
 */
export async function examine(
  doctor: Doctor,
  notify: (finding: Finding) => void,
  within = longest,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const errors = new Set<unknown>();
  /** Of each broken link the one from which it follows, or itself. */
  const causes = new Map<string, string>();
  let usualRemedy = redeploy(doctor.cluster);

  const causeOf = ({ follows = [] }: Pick<Check, "follows">) =>
    follows.map((link) => causes.get(link)).find((cause) => cause !== undefined);

  function report(check: Pick<Check, "link" | "follows">, found: Findings): void {
    const { link } = check;
    const cause = causeOf(check);
    for (const one of [found].flat()) {
      if (one.error !== undefined && errors.has(one.error)) continue;
      errors.add(one.error);
      const isBroken = one.verdict === "fail";
      if (isBroken) causes.set(link, cause ?? link);
      const judged = isBroken && cause ? skipped(`follows from "${cause}": ${one.what}`) : one;
      const remedy = isWrong(judged) ? shown(judged.remedy ?? usualRemedy) : undefined;
      const finding = { link, ...judged, what: shown(judged.what), remedy };
      findings.push(finding);
      notify(finding);
    }
  }

  const identity = await doctor.account.identity().then(ok, unread);
  report({ link: "credentials" }, identity);
  if (identity.verdict === "fail") return findings;
  const functions = await findFunctions(doctor).catch(unread);
  if ("verdict" in functions) {
    report({ link: "functions" }, functions);
    return findings;
  }
  const facts = factsOf(doctor, functions);
  usualRemedy = facts.redeploy;
  const find = (check: Check) => inTime(within, check.find(facts));
  for (const [check, found] of checks.map((check) => [check, find(check)] as const))
    report(check, await found);
  const cause = causeOf(checkProbe);
  report(checkProbe, cause ? skipped(`not sent: "${cause}" is broken`) : await find(checkProbe));
  return findings;
}

/** The findings of a check, or that it takes too long: nothing waits for a part that does not answer. */
async function inTime(limit: number, finding: Promise<Findings>): Promise<Findings> {
  const stop = new AbortController();
  const late = setTimeout(limit, fail("no answer came in two minutes", byHand), { signal: stop.signal });
  const found = await Promise.race([finding.catch(unread), late]);
  stop.abort();
  return found;
}
