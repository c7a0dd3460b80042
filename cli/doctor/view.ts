import type { Terminal } from "../terminal/terminal.ts";
import { type Finding, links } from "./finding.ts";

const signs = {
  ok: ["✓", "green"],
  warn: ["!", "yellow"],
  fail: ["✗", "red"],
  skipped: ["–", "dim"],
} as const;
const longest = Math.max(...links.map((link) => link.length));

/** One finding as people read it: a sign, the link, what was found, and below it what to do. */
export function findingView({ link, verdict, what, remedy }: Finding, style: Terminal["style"]): string[] {
  const [sign, colour] = signs[verdict];
  const line = `${style(colour, sign)} ${link.padEnd(longest)}  ${what}`;
  return remedy ? [line, `  ${" ".repeat(longest)}  ${style("dim", `→ ${remedy}`)}`] : [line];
}

/** One line for all findings. */
export function verdictView(findings: readonly Finding[], style: Terminal["style"]): string {
  const count = (verdict: Finding["verdict"]) => findings.filter((one) => one.verdict === verdict).length;
  const [failed, warned] = [count("fail"), count("warn")];
  if (failed + warned === 0) return style("green", "Every step works.");
  const parts = [
    failed > 0 ? style("red", `${failed} broken`) : "nothing broken",
    warned > 0 ? style("yellow", `${warned} to look at`) : "",
  ];
  return `${parts.filter(Boolean).join(", ")}.`;
}

/** Findings as programs read them. */
export const findingJson = ({ link, verdict, what, remedy, fix }: Finding) => ({
  link,
  verdict,
  what,
  ...(remedy && { remedy }),
  ...(fix && { fix: fix.action }),
});
