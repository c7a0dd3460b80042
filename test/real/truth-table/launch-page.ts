import { markdownTable } from "../../../scripts/markdown-table.ts";
import type { LaunchOutcome, LaunchOutcomeRow } from "./launch-outcome.ts";
import type { Verdicts } from "./other-version.ts";

const introduction = `## Which launches are replacements

A hold is for [demand, not for replacements](demand.md). Here Karpenter launched nodes in every way, and the holder's own rule judged each
launch as it came, with the rights of its manifest. A replacement is recognised by the event \`DisruptionLaunching\` on its NodeClaim. For
each replacement Karpenter's log names the nodes of its row as replaced, and no others. Each was made while no other NodePool might be
disrupted and no pod waited.`;

const notes = `The launch of a static NodePool (\`spec.replicas\`, behind the gate \`StaticCapacity\`) counts as demand although no pod waits for it, also
when one of its nodes was deleted: Karpenter writes no event about it. Its drift counts as a replacement. Such a NodeClaim can be
recognised, it alone asks for no resources (\`spec.resources.requests\`). The holder does not read that: in doubt it holds, and a needless
hold ends by itself. Leave a static NodePool out with \`nodePools\` if its launches should hold nothing.

A node that expired or was deleted is not replaced first. Its pods wait for a new node, so that launch is demand.`;

/** The part of the page about launches, from the suite's outcome. */
export function launchesPart({ karpenter, date, rows }: LaunchOutcome): string {
  const head = ["Why Karpenter launches a node", "Reason in the event", "Counts as"];
  const source = `Karpenter ${karpenter} with its kwok provider, ${date}.`;
  return [introduction, source, markdownTable(head, rows.map(cells)), notes].join("\n\n");
}

const cells = ({ what, reasons, kinds }: LaunchOutcomeRow): readonly [string, string, string] => [
  what,
  reasons.join(", ") || "no event",
  kinds.join(", "),
];

export const launchVerdicts = ({ karpenter, date, rows }: LaunchOutcome): Verdicts => ({
  karpenter,
  date,
  rows: rows.map((row) => {
    const [what, reason, kinds] = cells(row);
    return [what, `${reason}: ${kinds}`] as const;
  }),
});
