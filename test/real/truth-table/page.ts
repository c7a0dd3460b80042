import { markdownTable } from "../../../scripts/markdown-table.ts";
import type { Outcome, OutcomeRow } from "./outcome.ts";
import type { Course } from "./rows.ts";

const introduction = `# What a hold blocks

A held node carries \`karpenter.sh/do-not-disrupt: "true"\`. This is what real Karpenter made of that, row by row. All rows ran side
by side in one cluster, each with a NodePool and a workload of its own, under one hold put on by the holder's own adapter with the
rights of its manifest. Nothing is listed as held back that did not happen once the hold was over.`;

const ending = `## Not tried here

- **Interruption** (spot, rebalance, scheduled maintenance) and **node repair**: Karpenter's kwok provider has no interruptions, and
  repair waits ten minutes. Neither reads the annotation, by Karpenter's source and documents: a hold does not hold them back.
  Since v1.15.0 repair counts against budgets, and \`karpenter.sh/do-not-repair\` is a key of its own.
- **Static NodePools** that are scaled down: as above.
- What does not pass through Karpenter at all: \`kubectl drain\`, an instance terminated in the cloud's console.
- **Karpenter before 1.0**. Up to v0.31 (setting \`karpenter: v0.31\`) the annotation is another one, \`karpenter.sh/do-not-consolidate\`,
  which delays consolidation only. From v0.32 to v0.37 \`karpenter.sh/do-not-disrupt\` delays expiry, too. v0.32 also runs nodes of
  Provisioners beside those of NodePools; with \`karpenter: v1\` these are not held.`;

/** The page \`docs/what-a-hold-blocks.md\`, from the suite's outcomes on the newest and the oldest version. */
export function truthTablePage({ karpenter, date, rows }: Outcome, oldest: Outcome): string {
  const of = (course: Course) => rows.filter((row) => row.course === course);
  const source = `Karpenter ${karpenter} with its kwok provider, ${date}. Written by \`npm run truth-table\`, which runs the suite first; do not edit.`;
  return `${[
    introduction,
    source,
    "## Held back",
    markdownTable(
      ["Disruption", "Held back", "Held without loss for", "Gone after the hold"],
      of("after the hold").map(held),
    ),
    "Where another obstacle is named, it went away during the hold, and the hold alone kept the node.",
    "## Not held back",
    "Every one of these nodes carried the mark when it happened.",
    markdownTable(["Disruption", "Held back", "Gone, after the hold began"], of("although held").map(lost)),
    "## Together with what else protects a node",
    "The longest wins. Here the hold ended first; the node stayed as long as the other was there, while Karpenter took others.",
    markdownTable(
      ["The other", "Still protects after the hold", "Gone after both"],
      of("after the hold and the other").map(both),
    ),
    "`consolidateAfter` runs while a node is held: it counts from the last pod that came or went, not from the release.",
    `## On Karpenter ${oldest.karpenter}`,
    otherVersion(oldest, { karpenter, rows }),
    ending,
  ].join("\n\n")}\n`;
}

function otherVersion(other: Outcome, { karpenter, rows }: Pick<Outcome, "karpenter" | "rows">): string {
  const blockedThere = new Map(other.rows.map(({ what, blocked }) => [what, blocked]));
  const different = rows.filter(({ what, blocked }) => blockedThere.get(what) !== blocked);
  const seen = `The same rows on the oldest version tried, ${other.date}`;
  if (different.length === 0) return `${seen}: every verdict is the same.`;
  const cells = different.map(({ what, blocked }) => {
    return [what, yes(blockedThere.get(what) ?? false), yes(blocked)] as const;
  });
  return `${seen}: these verdicts differ.\n\n${markdownTable(["Held back", other.karpenter, karpenter], cells)}`;
}

const held = ({ what, blocked, heldSeconds, goneSeconds }: OutcomeRow) =>
  [what, yes(blocked), `${heldSeconds} s`, `${goneSeconds} s`] as const;
const lost = ({ what, blocked, goneSeconds }: OutcomeRow) =>
  [what, yes(blocked), `${goneSeconds} s`] as const;
const both = ({ what, blocked, goneSeconds }: OutcomeRow) =>
  [what, yes(blocked), `${goneSeconds} s`] as const;

const yes = (is: boolean): string => (is ? "**yes**" : "no");
