import { messageOf } from "../../lambda/core/errors.ts";
import { isDenied } from "../aws-errors.ts";
import { readable } from "../terminal/text.ts";
import { type Finding, type Findings, type Found, fail, type LinkName, skipped, warn } from "./finding.ts";

/** The result of one check: findings, and facts that later checks need. */
export type Seen<T> = Readonly<{ findings: Findings; facts?: T }>;

/** Checks step by step; a problem that only follows from another is marked as such. */
export class Examination {
  readonly findings: Finding[] = [];
  readonly #notify: (finding: Finding) => void;

  constructor(notify: (finding: Finding) => void) {
    this.#notify = notify;
  }

  /** Checks a link that may depend on others, and returns its facts. A check that is not permitted is a warning, without facts. */
  async read<T>(
    link: LinkName,
    check: () => Promise<Seen<T>>,
    needs: readonly LinkName[] = [],
  ): Promise<T | undefined> {
    try {
      const { findings, facts } = await check();
      for (const found of [findings].flat()) this.#add(link, found, needs);
      return facts;
    } catch (error) {
      const message = saidBy(error);
      const found = isDenied(error)
        ? warn(`could not be checked: ${message}`, "Ask for the right to read it.")
        : fail(`could not be checked: ${message}`, "Try again, then check it by hand.");
      this.#add(link, found, needs);
      return undefined;
    }
  }

  /** The same for checks without facts. */
  async check(
    link: LinkName,
    check: () => Findings | Promise<Findings>,
    needs?: readonly LinkName[],
  ): Promise<void> {
    await this.read(link, async () => ({ findings: await check() }), needs);
  }

  /** The first of these links that is broken. */
  broken(...names: readonly LinkName[]): LinkName | undefined {
    return names.find((name) =>
      this.findings.some(({ link, verdict }) => link === name && verdict === "fail"),
    );
  }

  #add(link: LinkName, found: Found, needs: readonly LinkName[]): void {
    const cause = found.verdict === "fail" ? this.broken(...needs) : undefined;
    const judged = cause ? skipped(`follows from "${cause}": ${found.what}`) : found;
    const { what, remedy } = judged;
    const finding = { link, ...judged, what: shown(what), ...(remedy && { remedy: shown(remedy) }) };
    this.findings.push(finding);
    this.#notify(finding);
  }
}

const longest = 1_000;

/** Names and messages come from outside, and are of any length. */
function shown(text: string): string {
  const line = readable(text);
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}

/** An error's message; a TypeError over an answer's shape has no useful one. */
export function saidBy(error: unknown): string {
  const isOfShape = error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError;
  return isOfShape ? "doctor cannot read the answer" : messageOf(error);
}

/** Applies the safe fixes and prints each result. True if any was applied. */
export async function applyFixes(
  findings: readonly Finding[],
  notify: (line: string) => void,
): Promise<boolean> {
  const actions = new Map(findings.flatMap(({ fix }) => (fix ? [[fix.action, fix.apply] as const] : [])));
  if (actions.size === 0) {
    notify("There is nothing to fix from here.");
    return false;
  }
  let done = 0;
  for (const [action, apply] of actions) {
    try {
      await apply();
      done += 1;
      notify(shown(`Fixed: ${action}.`));
    } catch (error) {
      notify(shown(`Could not ${action}: ${saidBy(error)}`));
    }
  }
  return done > 0;
}
