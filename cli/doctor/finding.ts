import { messageOf } from "../../lambda/core/errors.ts";
import { isStatus } from "../../lambda/kubernetes/error.ts";
import { explainAwsError, isDenied } from "../aws-errors.ts";
import { Failure } from "../terminal/failure.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { readable } from "../terminal/text.ts";

/** The verdict on a link; `skipped`: it follows from another one, or there was nothing to check. */
export type Verdict = "ok" | "warn" | "fail" | "skipped";

/** A safe fix: its description and its action. */
export type Fix = Readonly<{ action: string; apply: () => Promise<unknown> }>;

/** What a check found, and what to do about it: to deploy again, unless something else is given. */
export type Found = Readonly<{
  verdict: Verdict;
  what: string;
  remedy?: string | undefined;
  fix?: Fix | undefined;
  /** Why something could not be read. Several checks may need it: the first one reports it. */
  error?: unknown;
}>;
export type Findings = Found | readonly Found[];

/** What was found at one link. */
export type Finding = Found & Readonly<{ link: string }>;

export const ok = (what: string): Found => ({ verdict: "ok", what });
export const skipped = (what: string): Found => ({ verdict: "skipped", what });
export const warn = (what: string, remedy?: string): Found => ({ verdict: "warn", what, remedy });
export const fail = (what: string, remedy?: string, fix?: Fix): Found => ({
  ...{ verdict: "fail", what, remedy, fix },
});

/** Whether there is something to do about it. */
export const isWrong = ({ verdict }: Found): boolean => verdict === "fail" || verdict === "warn";

/** What is wrong, or that nothing is. */
export function orOk(found: readonly (Found | false)[], what: string): Findings {
  const wrong = found.filter((one) => one !== false);
  return wrong.length > 0 ? wrong : ok(what);
}

/** A line has room for five. */
export const fewOf = (names: readonly string[]): string =>
  [...names.slice(0, 5), ...(names.length > 5 ? ["…"] : [])].join(", ");

export const byHand = "Try again, then check it by hand.";
export const readLog = (name: string): string => `Read its log: aws logs tail /aws/lambda/${name} --since 1h`;

/** Only the caller's kubeconfig asks a cluster: what it may not read says nothing about the holder. */
const ofOwn =
  "This is about your kubeconfig's user: log in again, ask for the right, or name another with --context.";

/** What could not be read, and what to do about it. */
export function unread(error: unknown, what = "could not be checked"): Found {
  if (isStatus(error, 401, 403))
    return { ...warn(`${what}: ${messageOf(error.cause ?? error)}`, ofOwn), error };
  const explained = explainAwsError(error, "read this");
  const [why, remedy] =
    explained instanceof Failure ? [explained.message, explained.remedy] : [messageOf(error), byHand];
  return { verdict: isDenied(error) ? "warn" : "fail", what: `${what}: ${why}`, remedy, error };
}

const signs = {
  ok: ["✓", "green"],
  warn: ["!", "yellow"],
  fail: ["✗", "red"],
  skipped: ["–", "dim"],
} as const;
const width = "access entries".length;

/** One finding as people read it: a sign, the link, what was found, and below it what to do. */
export function findingView({ link, verdict, what, remedy }: Finding, style: Terminal["style"]): string[] {
  const [sign, colour] = signs[verdict];
  const line = `${style(colour, sign)} ${link.padEnd(width)}  ${what}`;
  return remedy ? [line, `  ${" ".repeat(width)}  ${style("dim", `→ ${remedy}`)}`] : [line];
}

const count = (findings: readonly Finding[], verdict: Verdict): number =>
  findings.filter((one) => one.verdict === verdict).length;

/** The verdict on all of it. */
export const worstOf = (findings: readonly Finding[]): Verdict =>
  (["fail", "warn"] as const).find((one) => count(findings, one) > 0) ?? "ok";

/** One line for all findings. */
export function verdictView(findings: readonly Finding[], style: Terminal["style"]): string {
  const [failed, warned] = [count(findings, "fail"), count(findings, "warn")];
  if (failed + warned === 0) return style("green", "Every step works.");
  const broken = failed > 0 ? style("red", `${failed} broken`) : "nothing broken";
  return warned > 0 ? `${broken}, ${style("yellow", `${warned} to look at`)}.` : `${broken}.`;
}

/** A finding as programs read it. */
export const findingJson = ({ error, fix, ...finding }: Finding) => ({ ...finding, fix: fix?.action });

/** Applies the safe fixes, each once, and prints each result. True if any was applied. */
export async function applyFixes(
  findings: readonly Finding[],
  notify: (line: string) => void,
): Promise<boolean> {
  const fixes = new Map(findings.flatMap(({ fix }) => (fix ? [[fix.action, fix.apply]] : [])));
  if (fixes.size === 0) notify("There is nothing to fix from here.");
  let isFixed = false;
  for (const [action, apply] of fixes) {
    try {
      await apply();
      isFixed = true;
      notify(readable(`Fixed: ${action}.`));
    } catch (error) {
      notify(readable(`Could not ${action}: ${messageOf(error)}`));
    }
  }
  return isFixed;
}
