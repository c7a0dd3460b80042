import { setTimeout } from "node:timers/promises";
import { hopeless, isDenied } from "../aws-errors.ts";
import { checkAlarms } from "./checks/alarms.ts";
import { ofCluster } from "./checks/cluster.ts";
import { findFunctions, ofFunctions } from "./checks/functions.ts";
import { ofInside } from "./checks/inside.ts";
import { ofLaunchPath } from "./checks/launch-path.ts";
import { ofNodePools } from "./checks/nodepools.ts";
import { checkClock, checkProbe } from "./checks/probe.ts";
import { ofReleases, ofSchedules } from "./checks/releases.ts";
import type { Doctor } from "./doctor.ts";
import { type Check, factsOf, NotThere } from "./facts.ts";
import {
  type Finding,
  type Findings,
  type Found,
  fail,
  type LinkName,
  ok,
  skipped,
  warn,
} from "./finding.ts";
import { saidBy, shown } from "./fixes.ts";

/** Everything that is checked once the functions are found; causes come before what follows from them. */
const checks: readonly Check[] = [
  ...ofFunctions,
  ...ofLaunchPath,
  ...ofSchedules,
  ...ofCluster,
  ...ofInside,
  ...ofNodePools,
  ...ofReleases,
  checkClock,
  checkAlarms,
  checkProbe,
];

/** A function that is asked answers sooner, or is in trouble. */
const longest = 130_000;

/** Checks every link of the chain. What can be read at the same time is; findings come in the order of the checks. */
export async function examine(
  doctor: Doctor,
  notify: (finding: Finding) => void,
  within = longest,
): Promise<readonly Finding[]> {
  const it = new Examination(notify);
  it.report({ link: "credentials" }, await attempt(async () => ok((await doctor.account.identity()).arn)));
  if (it.broken(["credentials"])) return it.findings;
  const found = await attempt(() => findFunctions(doctor));
  if ("error" in found || !("functions" in found)) {
    it.report({ link: "functions" }, found);
    return it.findings;
  }
  const facts = factsOf(doctor, found.functions);
  const find = (check: Check) => inTime(within, () => check.find(facts));
  const started = checks.map((check) => [check, check.onlyIf ? undefined : find(check)] as const);
  for (const [check, finding] of started) {
    const cause = check.onlyIf && it.broken(check.onlyIf);
    if (cause) it.report(check, skipped(`not sent: "${cause}" is broken`));
    else it.report(check, await (finding ?? find(check)));
  }
  return it.findings;
}

type Failed = Readonly<{ error: unknown }>;

/** The findings of a check; that it takes too long, so that nothing waits for a part that does not answer. */
const inTime = (limit: number, find: () => Findings | Promise<Findings>) =>
  attempt(async () => {
    const stop = new AbortController();
    const late = setTimeout(limit, undefined, { signal: stop.signal }).then(
      () => fail("no answer came in two minutes", "Try again, then check it by hand."),
      (): Found[] => [],
    );
    try {
      return await Promise.race([find(), late]);
    } finally {
      stop.abort();
    }
  });

async function attempt<T>(work: () => Promise<T>): Promise<T | Failed> {
  try {
    return await work();
  } catch (error) {
    return { error };
  }
}

/** Collects findings. A problem that only follows from another is marked as such, and an error is reported once. */
class Examination {
  readonly findings: Finding[] = [];
  readonly #notify: (finding: Finding) => void;
  readonly #errors = new Set<unknown>();

  constructor(notify: (finding: Finding) => void) {
    this.#notify = notify;
  }

  report(check: Pick<Check, "link" | "follows">, result: Findings | Failed): void {
    const findings = "error" in result ? this.#judge(result.error) : [result].flat();
    for (const found of findings) this.#add(check, found);
  }

  /** The first of these links that is broken. */
  broken(names: readonly LinkName[]): LinkName | undefined {
    return names.find((name) =>
      this.findings.some(({ link, verdict }) => link === name && verdict === "fail"),
    );
  }

  /** What could not be read. Several checks may have asked for it: the first one reports it. */
  #judge(error: unknown): readonly Found[] {
    if (error instanceof NotThere || this.#errors.has(error)) return [];
    this.#errors.add(error);
    const failure = this.findings.length === 0 ? hopeless(error) : undefined;
    if (failure) return [fail(failure.message, failure.remedy)];
    const what = `could not be checked: ${saidBy(error)}`;
    const isRight = isDenied(error);
    return [
      isRight ? warn(what, "Ask for the right to read it.") : fail(what, "Try again, then check it by hand."),
    ];
  }

  #add({ link, follows = [] }: Pick<Check, "link" | "follows">, found: Found): void {
    const cause = found.verdict === "fail" ? this.broken(follows) : undefined;
    const judged = cause ? skipped(`follows from "${cause}": ${found.what}`) : found;
    const { what, remedy } = judged;
    const finding = { link, ...judged, what: shown(what), ...(remedy && { remedy: shown(remedy) }) };
    this.findings.push(finding);
    this.#notify(finding);
  }
}
