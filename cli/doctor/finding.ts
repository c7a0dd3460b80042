import type { Terminal } from "../terminal/terminal.ts";

/** The links of the chain from a launch to a release, in the order in which they are checked. */
export const links = [
  "credentials",
  "functions",
  "code",
  "record",
  "rule",
  "target",
  "queue policy",
  "queue",
  "mapping",
  "dead letters",
  "schedule group",
  "schedule role",
  "schedules",
  "permissions",
  "cluster",
  "access entries",
  "login",
  "rights",
  "policy",
  "manifest",
  "launches",
  "holds",
  "sweep",
  "clock",
  "alarms",
  "nodes",
  "nodepools",
  "annotations",
  "probe",
] as const;
export type LinkName = (typeof links)[number];

/** The verdict on a link; `skipped`: it follows from another one, or there was nothing to check. */
export type Verdict = "ok" | "warn" | "fail" | "skipped";

/** A safe fix: its description and its action. */
export type Fix = Readonly<{ action: string; apply: () => Promise<void> }>;

/** What a check found, and what to do about it; `link` where that is another than the checked one. */
export type Found = Readonly<{ link?: LinkName; verdict: Verdict; what: string; remedy?: string; fix?: Fix }>;
export type Findings = Found | readonly Found[];

/** What was found at one link. */
export type Finding = Found & Readonly<{ link: LinkName }>;

export const ok = (what: string): Found => ({ verdict: "ok", what });
export const skipped = (what: string): Found => ({ verdict: "skipped", what });
export const warn = (what: string, remedy: string): Found => ({ verdict: "warn", what, remedy });
export const fail = (what: string, remedy: string, fix?: Fix): Found => ({
  verdict: "fail",
  what,
  remedy,
  ...(fix && { fix }),
});

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

/** The verdict on all of it. */
export const worstOf = (findings: readonly Finding[]): Verdict =>
  (["fail", "warn"] as const).find((one) => findings.some(({ verdict }) => verdict === one)) ?? "ok";

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
