/** What both clocks count of one run; `wait95` are seconds. */
export type Counted = Readonly<{ nodeMinutes: number; launched: number; evicted: number; wait95: number }>;

export type Agreement = Readonly<{
  /** The values on the wall clock and in virtual time, in words. */
  line: string;
  /** What differs by more than is allowed. */
  differences: readonly string[];
}>;

/** The ranges of the node time may be apart by this share. */
export const allowedShare = 0.15;

/** On a busy machine by more, but never by more than this. */
const largestShare = 1 / 3;

/**
 * Compares repeated runs of one trace on the wall clock and in virtual time. Chance moves all figures, so the ranges of both
 * clocks must meet: those of the node time within a share, and each launched node may come and go later by what pods waited
 * longer on the wall clock: so busy was the machine. Launches and evictions are small numbers: their ranges must meet within
 * a tenth, or one launch, or the two pods that one more removal evicts.
 */
export function agreementOf(wall: readonly Counted[], virtual: readonly Counted[]): Agreement {
  const [onWall, inVirtual] = [meanOf(wall), meanOf(virtual)];
  const late = (Math.max(0, onWall.wait95 - inVirtual.wait95) / 60) * onWall.launched;
  const allowed = Math.min(largestShare, allowedShare + late / onWall.nodeMinutes);
  const valuesOf = (runs: readonly Counted[], name: keyof Counted) => runs.map((run) => run[name]);
  const slackOf = {
    nodeMinutes: allowed * onWall.nodeMinutes,
    launched: Math.max(1, 0.1 * Math.max(...valuesOf(wall, "launched"))),
    evicted: Math.max(2, 0.1 * Math.max(...valuesOf(wall, "evicted"))),
  };
  const differences = (["nodeMinutes", "launched", "evicted"] as const).filter(
    (name) => !meet(valuesOf(wall, name), valuesOf(virtual, name), slackOf[name]),
  );
  const counts = (["launched", "evicted"] as const).map(
    (name) => `${name} ${range(wall.map((run) => run[name]))} : ${range(virtual.map((run) => run[name]))}`,
  );
  const times = [wall, virtual].map((runs) => range(valuesOf(runs, "nodeMinutes"), 1)).join(" : ");
  const time = `node-minutes ${times} (allowed ${Math.round(100 * allowed)} %)`;
  return { line: [time, ...counts].join(", "), differences };
}

const meanOf = (runs: readonly Counted[]): Counted => {
  const mean = (name: keyof Counted) => runs.reduce((sum, run) => sum + run[name], 0) / runs.length;
  return {
    nodeMinutes: mean("nodeMinutes"),
    launched: mean("launched"),
    evicted: mean("evicted"),
    wait95: mean("wait95"),
  };
};

function range(values: readonly number[], digits = 0): string {
  const [least, most] = [Math.min(...values), Math.max(...values)].map((one) => one.toFixed(digits));
  return least === most ? `${least}` : `${least}–${most}`;
}

const meet = (a: readonly number[], b: readonly number[], slack: number): boolean =>
  Math.min(...b) <= Math.max(...a) + slack && Math.max(...b) >= Math.min(...a) - slack;
