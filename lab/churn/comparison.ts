import { markdownTable } from "../../scripts/markdown-table.ts";
import type { ArmName } from "./arms.ts";
import { type Figures, figuresOf } from "./figures.ts";
import type { ArmRecord } from "./run-arm.ts";
import { type TraceName, traces } from "./traces.ts";

/** The node-minutes that an arm may cost, as a multiple of those of `consolidateAfter`. */
const goals: Partial<Record<ArmName, number>> = { holder: 1.1, "holder-30s": 1.1, "holder-empty": 1.05 };

/** Node-minutes that differ by less count as equal. */
const tolerance = 0.05;

type Pair = Readonly<{ ours: Figures; theirs: Figures }>;

/** The holder beside `consolidateAfter` of the same length: what each costs, and where the holder is dominated. */
export function comparison(records: readonly ArmRecord[]): readonly string[] {
  const pairs = (Object.keys(traces) as TraceName[])
    .flatMap((trace) => records.filter((record) => record.trace === trace))
    .flatMap((record) => {
      const beside = (name: ArmName) => {
        const { trace, seed } = record;
        const found = records.find((one) => one.trace === trace && one.arm === name && one.seed === seed);
        return found && figuresOf(found);
      };
      const [goal, theirs] = [goals[record.arm], beside("consolidate-after")];
      return goal && theirs ? [{ record, goal, ours: figuresOf(record), theirs, alone: beside("none") }] : [];
    });
  if (pairs.length === 0) return [];
  const rows = pairs.map(({ record, goal, ours, theirs, alone }) => [
    `\`${record.trace}\``,
    `\`${record.arm}\``,
    String(record.seed),
    `${ours.launched} / ${theirs.launched}`,
    `${evictions(ours)} / ${evictions(theirs)}`,
    `${ours.nodeMinutes} / ${theirs.nodeMinutes}`,
    nodeTime({ ours, theirs }).toFixed(2),
    isReached({ ours, theirs }, goal) ? "yes" : "no",
    ratio(ours.driftDone, alone?.driftDone) ?? "–",
  ]);
  const dominated = pairs
    .filter(isDominated)
    .map(({ record: { trace, arm, seed } }) => `\`${trace}\` (\`${arm}\`, seed ${seed})`);
  const head = ["Trace", "Arm", "Seed", "nodes launched", "pods evicted", "node-minutes", "ratio", "goal"];
  return [
    "### The holder against `consolidateAfter` of the same length",
    "Holder / `consolidateAfter`; evicted jobs count as evicted pods. The goal on every trace: at most 10 % more launches, no more evictions, and at most 1.1 times the node-minutes (`letGo=empty`: 1.05 times).",
    markdownTable([...head, "drift done, against `none`"], rows, [2, 3, 4, 5, 6, 8]),
    `The holder is dominated where it is worse in one of launches, evictions and node-minutes (by more than 5 %) and better in none. ${
      dominated.length > 0 ? `That is so on ${dominated.join(", ")}.` : "It is dominated nowhere."
    }`,
  ];
}

const evictions = ({ servicePodsEvicted, jobsRestarted }: Figures): number =>
  servicePodsEvicted + jobsRestarted;

const nodeTime = ({ ours, theirs }: Pair): number => ours.nodeMinutes / theirs.nodeMinutes;

const isReached = ({ ours, theirs }: Pair, goal: number): boolean =>
  ours.launched <= theirs.launched * 1.1 &&
  evictions(ours) <= evictions(theirs) &&
  nodeTime({ ours, theirs }) <= goal;

function isDominated({ ours, theirs }: Pair): boolean {
  const time = nodeTime({ ours, theirs }) - 1;
  const more = [
    ours.launched - theirs.launched,
    evictions(ours) - evictions(theirs),
    Math.abs(time) > tolerance ? time : 0,
  ];
  return more.every((one) => one >= 0) && more.some((one) => one > 0);
}

const ratio = (value: number | undefined, other: number | undefined): string | undefined =>
  value !== undefined && other ? (value / other).toFixed(2) : undefined;
