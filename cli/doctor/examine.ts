import { setTimeout } from "node:timers/promises";
import { readable } from "../terminal/text.ts";
import { ofAlarms } from "./checks/alarms.ts";
import { ofCluster } from "./checks/cluster.ts";
import { findFunctions, ofFunctions } from "./checks/functions.ts";
import { ofHolds } from "./checks/holds.ts";
import { checkProbe, ofLaunchPath } from "./checks/launch-path.ts";
import { ofNodePools } from "./checks/nodepools.ts";
import { ofSchedules } from "./checks/schedules.ts";
import { type Checks, type Doctor, factsOf, redeploy } from "./doctor.ts";
import { byHand, type Finding, type Findings, fail, isWrong, ok, skipped, unread } from "./finding.ts";

/** Everything that is checked once the functions are found; causes come before what follows from them. */
const checks = {
  ...ofFunctions,
  ...ofLaunchPath,
  ...ofSchedules,
  ...ofCluster,
  ...ofHolds,
  ...ofNodePools,
  ...ofAlarms,
} satisfies Checks;
type Link = keyof typeof checks;

/** If one of these links is broken, a failure of the first follows from it. */
const causesOf: Readonly<Record<string, readonly Link[]>> = {
  code: ["functions"],
  rule: ["queue"],
  permissions: ["schedule role"],
  "access entries": ["cluster"],
  record: ["functions"],
  login: ["functions", "access entries", "cluster"],
  rights: ["access entries", "manifest"],
  policy: ["manifest", "rights"],
  holds: ["access entries", "login", "rights"],
  sweep: ["timer", "record", "access entries", "login", "rights", "policy"],
  probe: ["functions", "code", "record", "rule", "queue", "queue policy", "mapping"],
} satisfies Readonly<Partial<Record<Link | "probe", readonly Link[]>>>;

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
  const broken = new Map<string, string>();
  let usualRemedy = redeploy(doctor.cluster, doctor.cluster);

  const causeOf = (link: string) =>
    causesOf[link]?.map((one) => broken.get(one)).find((cause) => cause !== undefined);

  function report(link: string, found: Findings): void {
    const cause = causeOf(link);
    for (const one of [found].flat()) {
      if (one.error !== undefined && errors.has(one.error)) continue;
      errors.add(one.error);
      const isBroken = one.verdict === "fail";
      if (isBroken) broken.set(link, cause ?? link);
      const judged = isBroken && cause ? skipped(`follows from "${cause}": ${one.what}`) : one;
      const remedy = isWrong(judged) ? readable(judged.remedy ?? usualRemedy) : undefined;
      const finding = { link, ...judged, what: readable(judged.what), remedy };
      findings.push(finding);
      notify(finding);
    }
  }

  const identity = await doctor.account.identity().then(ok, unread);
  report("credentials", identity);
  if (identity.verdict === "fail") return findings;
  const functions = await findFunctions(doctor).catch(unread);
  if ("verdict" in functions) {
    report("functions", functions);
    return findings;
  }
  const facts = factsOf(doctor, functions);
  usualRemedy = redeploy(doctor.cluster, facts.cluster);
  const asked = Object.entries(checks).map(([link, find]) => [link, inTime(within, find(facts))] as const);
  for (const [link, found] of asked) report(link, await found);
  const cause = causeOf("probe");
  report(
    "probe",
    cause ? skipped(`not sent: "${cause}" is broken`) : await inTime(within, checkProbe(facts)),
  );
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
