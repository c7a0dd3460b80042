import { markdownTable } from "../../../scripts/markdown-table.ts";
import type { Outcome, OutcomeRow } from "./outcome.ts";
import type { Course } from "./rows.ts";

/** The outcomes on the newest and the oldest version. */
type OnBoth<T> = Readonly<{ newest: T; oldest: T }>;
type Run = Readonly<{ karpenter: string; date: string }>;
type Verdicts = Readonly<{ rows: readonly (readonly [what: string, verdict: string])[] }> & Run;

/** What `docs/compare.md` says about holds. */
export function truthTable(holds: OnBoth<Outcome>): string {
  const of = (course: Course) => holds.newest.rows.filter((row) => row.course === course);
  const held = ({ what, blocked, heldSeconds, goneSeconds }: OutcomeRow) =>
    [what, yes(blocked), `${heldSeconds} s`, `${goneSeconds} s`] as const;
  const gone = ({ what, blocked, goneSeconds }: OutcomeRow) =>
    [what, yes(blocked), `${goneSeconds} s`] as const;
  return [
    onVersion(holds.newest),
    markdownTable(
      ["Disruption", "Held back", "Held without loss for", "Gone after the hold"],
      of("after the hold").map(held),
    ),
    markdownTable(["Disruption", "Held back", "Gone, after the hold began"], of("although held").map(gone)),
    markdownTable(
      ["What else protects the node", "Still protects after the hold", "Gone after both"],
      of("after the hold and the other").map(gone),
    ),
    otherVersion(verdictsOf(holds.newest), verdictsOf(holds.oldest)),
  ].join("\n\n");
}

const onVersion = ({ karpenter, date }: Run): string =>
  `Karpenter ${karpenter} with its kwok provider, ${date}:`;

const yes = (is: boolean): string => (is ? "**yes**" : "no");

const verdictsOf = ({ rows, ...run }: Outcome): Verdicts => ({
  ...run,
  rows: rows.map(({ what, blocked }) => [what, yes(blocked)] as const),
});

/** How the oldest version differs, and which rows it cannot show. */
function otherVersion(newest: Verdicts, oldest: Verdicts): string {
  const there = new Map(oldest.rows);
  const missing = newest.rows.filter(([what]) => !there.has(what)).map(([what]) => what);
  const without = missing.length > 0 ? ` It cannot show: ${missing.join("; ")}.` : "";
  const different = newest.rows.flatMap(([what, here]) => {
    const verdict = there.get(what) ?? here;
    return verdict === here ? [] : [[what, verdict, here]];
  });
  const seen = `Karpenter ${oldest.karpenter}, ${oldest.date}`;
  if (different.length === 0) return `${seen}: every verdict is the same.${without}`;
  const head = ["Row", oldest.karpenter, newest.karpenter];
  return `${seen}: these verdicts differ.${without}\n\n${markdownTable(head, different)}`;
}
