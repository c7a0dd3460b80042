import { markdownTable } from "../../../scripts/markdown-table.ts";

/** The outcome of a suite on one version of Karpenter: the verdict of each row. */
export type Verdicts = Readonly<{
  karpenter: string;
  date: string;
  rows: readonly (readonly [what: string, verdict: string])[];
}>;

/** How another version differs, and which rows it cannot show. */
export function otherVersion(title: string, newest: Verdicts, other: Verdicts): string {
  const there = new Map(other.rows);
  const missing = newest.rows.filter(([what]) => !there.has(what)).map(([what]) => what);
  const without = missing.length > 0 ? ` It cannot show: ${missing.join("; ")}.` : "";
  const different = newest.rows.flatMap(([what, here]) => {
    const verdict = there.get(what) ?? here;
    return verdict === here ? [] : [[what, verdict, here]];
  });
  const seen = `${title}, ${other.date}`;
  if (different.length === 0) return `${seen}: every verdict is the same.${without}`;
  const head = ["Row", other.karpenter, newest.karpenter];
  return `${seen}: these verdicts differ.${without}\n\n${markdownTable(head, different)}`;
}
