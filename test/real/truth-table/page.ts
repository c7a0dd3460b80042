import { markdownTable } from "../../../scripts/markdown-table.ts";
import { before1 } from "./before-1.ts";
import type { LaunchOutcome } from "./launch-outcome.ts";
import { launchesPart, launchVerdicts } from "./launch-page.ts";
import { otherVersion, type Verdicts } from "./other-version.ts";
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
- What does not pass through Karpenter at all: \`kubectl drain\`, an instance terminated in the cloud's console.`;

/** The outcomes of one suite on the newest and the oldest version. */
type OnBoth<T> = Readonly<{ newest: T; oldest: T }>;

/** The page `docs/what-a-hold-blocks.md`, from the outcomes of its two suites. */
export function truthTablePage(holds: OnBoth<Outcome>, launches: OnBoth<LaunchOutcome>): string {
  const { karpenter, date, rows } = holds.newest;
  const of = (course: Course) => rows.filter((row) => row.course === course);
  const source = `Karpenter ${karpenter} with its kwok provider, ${date}. Written by \`npm run truth-table\`, which runs the suites first; do not edit.`;
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
    launchesPart(launches.newest),
    `## On Karpenter ${holds.oldest.karpenter}`,
    otherVersion(
      "The disruptions on the oldest version tried",
      verdicts(holds.newest),
      verdicts(holds.oldest),
    ),
    otherVersion("The launches there", launchVerdicts(launches.newest), launchVerdicts(launches.oldest)),
    before1,
    ending,
  ].join("\n\n")}\n`;
}

const verdicts = ({ karpenter, date, rows }: Outcome): Verdicts => ({
  karpenter,
  date,
  rows: rows.map(({ what, blocked }) => [what, yes(blocked)] as const),
});

const held = ({ what, blocked, heldSeconds, goneSeconds }: OutcomeRow) =>
  [what, yes(blocked), `${heldSeconds} s`, `${goneSeconds} s`] as const;
const lost = ({ what, blocked, goneSeconds }: OutcomeRow) =>
  [what, yes(blocked), `${goneSeconds} s`] as const;
const both = ({ what, blocked, goneSeconds }: OutcomeRow) =>
  [what, yes(blocked), `${goneSeconds} s`] as const;

const yes = (is: boolean): string => (is ? "**yes**" : "no");
