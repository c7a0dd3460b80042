import { markdownTable } from "../../../scripts/markdown-table.ts";
import { newestKarpenter, oldestKarpenter } from "../engines/build.ts";
import { type Course, truthRows } from "./rows.ts";
import type { Seen, Truth } from "./run.ts";

const seconds = (ms: number): string => `${Math.round(ms / 1000)} s`;

/** What `docs/compare.md` says about holds, once every row went as expected on both versions. */
export function truthTable({ heldAt, releasedAt, seen }: Truth): string {
  const rowsOf = (course: Course, columns: (one: Seen) => readonly string[]) =>
    seen.filter(({ row }) => row.course === course).map((one) => [one.row.what, ...columns(one)]);
  /** How long the nodes stayed held after every reason to disrupt them existed. */
  const held = ({ triggeredAt, liftedAt }: Seen) =>
    seconds(releasedAt - Math.max(heldAt, triggeredAt, liftedAt < releasedAt ? liftedAt : 0));
  const goneAfter = ({ goneAt, liftedAt }: Seen) => seconds(goneAt - Math.max(releasedAt, liftedAt));
  const yes = "**yes**";
  return [
    `Karpenter ${newestKarpenter} with its kwok provider, ${new Date(heldAt).toISOString().slice(0, 10)}:`,
    markdownTable(
      ["Disruption", "Held back", "Held without loss for", "Gone after the hold"],
      rowsOf("after the hold", (one) => [yes, held(one), goneAfter(one)]),
    ),
    markdownTable(
      ["Disruption", "Held back", "Gone, after the hold began"],
      rowsOf("although held", ({ goneAt }) => ["no", seconds(goneAt - heldAt)]),
    ),
    markdownTable(
      ["What else protects the node", "Still protects after the hold", "Gone after both"],
      rowsOf("after the hold and the other", (one) => [yes, goneAfter(one)]),
    ),
    otherVersion(),
  ].join("\n\n");
}

/** The suite fails on a version where a verdict differs. */
function otherVersion(): string {
  const there = new Set(truthRows(oldestKarpenter).map(({ what }) => what));
  const missing = truthRows(newestKarpenter).filter(({ what }) => !there.has(what));
  const cannot = missing.map(({ what }) => what).join("; ");
  return `Karpenter ${oldestKarpenter}: every verdict is the same. It cannot show: ${cannot}.`;
}
