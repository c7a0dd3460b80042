/** What both clocks count of one run; `wait95` are seconds. */
export type Counted = Readonly<{ nodeMinutes: number; launched: number; evicted: number; wait95: number }>;

export type Agreement = Readonly<{
  /** The values on the wall clock and in virtual time, in words. */
  line: string;
  /** What differs by more than is allowed. */
  differences: readonly string[];
}>;

/** The node time may differ by this share. */
export const allowedShare = 0.15;

/** On a busy machine by more, but never by more than this. */
const largestShare = 1 / 3;

/**
 * Compares repeated runs of one trace on the wall clock and in virtual time. The mean of the node time may differ by a share,
 * and each launched node may come and go later by what pods waited longer on the wall clock: so busy was the machine.
 * Launches and evictions are small numbers that chance moves: the ranges of both clocks must meet within a tenth, or one launch,
 * or the two pods that one more removal evicts.
 */
export function agreementOf(
  wall: readonly Counted[],
  virtual: readonly Counted[],
  share = allowedShare,
): Agreement {
  const [onWall, inVirtual] = [meanOf(wall), meanOf(virtual)];
  const late = (Math.max(0, onWall.wait95 - inVirtual.wait95) / 60) * onWall.launched;
  const allowed = Math.min(Math.max(share, largestShare), share + late / onWall.nodeMinutes);
  const differences = [
    ...(Math.abs(inVirtual.nodeMinutes / onWall.nodeMinutes - 1) <= allowed ? [] : ["node time"]),
    ...(["launched", "evicted"] as const).filter(
      (name) =>
        !meet(
          wall.map((run) => run[name]),
          virtual.map((run) => run[name]),
          name === "evicted" ? 2 : 1,
        ),
    ),
  ];
  const counts = (["launched", "evicted"] as const).map(
    (name) => `${name} ${range(wall.map((run) => run[name]))} : ${range(virtual.map((run) => run[name]))}`,
  );
  const times = [onWall, inVirtual].map(({ nodeMinutes }) => nodeMinutes.toFixed(1)).join(" : ");
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

const range = (values: readonly number[]): string => {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? `${least}` : `${least}–${most}`;
};

function meet(a: readonly number[], b: readonly number[], least: number): boolean {
  const slack = Math.max(least, 0.1 * Math.max(...a));
  return Math.min(...b) <= Math.max(...a) + slack && Math.max(...b) >= Math.min(...a) - slack;
}
