/** What both clocks count of one run. */
export type Counted = Readonly<{ nodeMinutes: number; launched: number; evicted: number }>;

export type Agreement = Readonly<{
  /** The values on the wall clock and in virtual time, in words. */
  line: string;
  /** What differs by more than is allowed. */
  differences: readonly string[];
}>;

/** The node time may differ by this share. */
export const allowedShare = 0.15;

/**
 * Compares repeated runs of one trace on the wall clock and in virtual time. The mean of the node time may differ by a share.
 * Launches and evictions are small numbers that chance moves: the ranges of both clocks must meet within one, or a tenth.
 */
export function agreementOf(
  wall: readonly Counted[],
  virtual: readonly Counted[],
  share = allowedShare,
): Agreement {
  const times = [wall, virtual].map((runs) => mean(runs.map(({ nodeMinutes }) => nodeMinutes)));
  const [onWall = 0, inVirtual = 0] = times;
  const differences = [
    ...(Math.abs(inVirtual / onWall - 1) <= share ? [] : ["node time"]),
    ...(["launched", "evicted"] as const).filter(
      (name) =>
        !meet(
          wall.map((run) => run[name]),
          virtual.map((run) => run[name]),
        ),
    ),
  ];
  const counts = (["launched", "evicted"] as const).map(
    (name) => `${name} ${range(wall.map((run) => run[name]))} : ${range(virtual.map((run) => run[name]))}`,
  );
  const time = `node-minutes ${times.map((value) => value.toFixed(1)).join(" : ")}`;
  return { line: [time, ...counts].join(", "), differences };
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

const range = (values: readonly number[]): string => {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return least === most ? `${least}` : `${least}–${most}`;
};

function meet(a: readonly number[], b: readonly number[]): boolean {
  const slack = Math.max(1, 0.1 * Math.max(...a));
  return Math.min(...b) <= Math.max(...a) + slack && Math.max(...b) >= Math.min(...a) - slack;
}
