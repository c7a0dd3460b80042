import { setTimeout } from "node:timers/promises";
import { hopeless } from "../aws-errors.ts";
import { ofAlarms } from "./checks/alarms.ts";
import { ofCluster } from "./checks/cluster.ts";
import { findFunctions, ofFunctions } from "./checks/functions.ts";
import { ofHolds } from "./checks/holds.ts";
import { ofInside } from "./checks/inside.ts";
import { ofLaunchPath } from "./checks/launch-path.ts";
import { ofNodePools } from "./checks/nodepools.ts";
import { checkProbe } from "./checks/probe.ts";
import { ofSchedules } from "./checks/schedules.ts";
import { type Check, type Doctor, factsOf, redeploy } from "./doctor.ts";
import {
  type Finding,
  type Findings,
  type Found,
  fail,
  isWrong,
  ok,
  shown,
  skipped,
  unread,
} from "./finding.ts";

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

/** Checks every link of the chain. What can be read at the same time is; findings come in the order of the checks. */
export async function examine(
  doctor: Doctor,
  notify: (finding: Finding) => void,
  within = longest,
): Promise<readonly Finding[]> {
  const it = new Examination(redeploy(doctor.cluster), notify);
  const credentials = { link: "credentials" };
  try {
    it.report(credentials, ok(await doctor.account.identity()));
  } catch (error) {
    const failure = hopeless(error);
    it.report(credentials, failure ? fail(failure.message, failure.remedy) : new Failed(error));
    if (failure) return it.findings;
  }
  const functions = await attempt(() => findFunctions(doctor));
  if (functions instanceof Failed || "verdict" in functions) {
    it.report({ link: "functions" }, functions);
    return it.findings;
  }
  const facts = factsOf(doctor, functions);
  it.usualRemedy = facts.redeploy;
  const find = (check: Check) => inTime(within, () => check.find(facts));
  for (const [check, found] of checks.map((check) => [check, find(check)] as const))
    it.report(check, await found);
  const cause = it.causeOf(checkProbe);
  it.report(checkProbe, cause ? skipped(`not sent: "${cause}" is broken`) : await find(checkProbe));
  return it.findings;
}

class Failed {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

async function attempt<T>(work: () => T | Promise<T>): Promise<T | Failed> {
  try {
    return await work();
  } catch (error) {
    return new Failed(error);
  }
}

/** The findings of a check, or that it takes too long: nothing waits for a part that does not answer. */
async function inTime(limit: number, find: () => Findings | Promise<Findings>): Promise<Findings | Failed> {
  const stop = new AbortController();
  const late = attempt(() =>
    setTimeout(limit, fail("no answer came in two minutes", byHand), { signal: stop.signal }),
  );
  const found = await Promise.race([attempt(find), late]);
  stop.abort();
  return found;
}

const byHand = "Try again, then check it by hand.";

/** Collects findings. A problem that only follows from another is marked as such, and an error is reported once. */
class Examination {
  readonly findings: Finding[] = [];
  usualRemedy: string;
  readonly #notify: (finding: Finding) => void;
  readonly #errors = new Set<unknown>();
  /** Of each broken link the one from which it follows, or itself. */
  readonly #causes = new Map<string, string>();

  constructor(usualRemedy: string, notify: (finding: Finding) => void) {
    this.usualRemedy = usualRemedy;
    this.#notify = notify;
  }

  report(check: Pick<Check, "link" | "follows">, result: Findings | Failed): void {
    const { link } = check;
    const cause = this.causeOf(check);
    for (const found of result instanceof Failed ? this.#unread(result) : [result].flat()) {
      const isBroken = found.verdict === "fail";
      if (isBroken) this.#causes.set(link, cause ?? link);
      const judged = isBroken && cause ? skipped(`follows from "${cause}": ${found.what}`) : found;
      const remedy = isWrong(judged) ? (judged.remedy ?? this.usualRemedy) : "";
      const finding = { link, ...judged, what: shown(judged.what), ...(remedy && { remedy: shown(remedy) }) };
      this.findings.push(finding);
      this.#notify(finding);
    }
  }

  /** The broken link from which a failure of this check follows. */
  causeOf({ follows = [] }: Pick<Check, "follows">): string | undefined {
    return follows.map((link) => this.#causes.get(link)).find((cause) => cause !== undefined);
  }

  /** What could not be read. Several checks may have asked for it: the first one reports it. */
  #unread({ error }: Failed): readonly Found[] {
    if (this.#errors.has(error)) return [];
    this.#errors.add(error);
    return [unread("could not be checked", error, byHand)];
  }
}
