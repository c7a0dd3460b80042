/** What both clocks count of one run; and the time until every drifted node was replaced, where that ended. */
export type Counted = Readonly<{
  nodeMinutes: number;
  launched: number;
  evicted: number;
  /** The most that were evicted from one node. */
  evictedFromOne?: number;
  driftSeconds?: number;
}>;

export type Agreement = Readonly<{
  /** The values on the wall clock and in virtual time, in words. */
  line: string;
  /** What differs by more than is allowed. */
  differences: readonly string[];
}>;

/** The node time may be apart from the range in virtual time by this share. */
const allowedShare = 0.15;

/** With the time of one node more or less, too, but never by more than this. */
const largestShare = 1 / 3;

/**
 * Compares a run on the wall clock with repeated runs of its trace in virtual time. Chance moves all figures, so the wall
 * clock's must be near to the range of the others: the node time within a share. Launches and evictions are small numbers:
 * a tenth apart, or one launch by chance, which brings or takes the time of one node, or the pods that one more removal
 * evicts: three, or as many as one of this run.
 */
export function agreementOf(wall: Counted, virtual: readonly Counted[]): Agreement {
  const valuesOf = (name: "nodeMinutes" | "launched" | "evicted") => virtual.map((run) => run[name]);
  const launches = valuesOf("launched");
  const isApart = wall.launched < Math.min(...launches) || wall.launched > Math.max(...launches);
  const timeOfOne = isApart ? wall.nodeMinutes / Math.max(1, wall.launched) : 0;
  const allowed = Math.min(largestShare, allowedShare + timeOfOne / wall.nodeMinutes);
  const slackOf = {
    nodeMinutes: allowed * wall.nodeMinutes,
    launched: Math.max(1, 0.1 * wall.launched),
    evicted: Math.max(3, 0.1 * wall.evicted, wall.evictedFromOne ?? 0),
  };
  const names = ["nodeMinutes", "launched", "evicted"] as const;
  const differences = names.filter((name) => {
    const [value, slack] = [wall[name], slackOf[name]];
    return Math.min(...valuesOf(name)) > value + slack || Math.max(...valuesOf(name)) < value - slack;
  });
  const times = `${wall.nodeMinutes.toFixed(1)} : ${range(valuesOf("nodeMinutes"), 1)}`;
  const counts = (["launched", "evicted"] as const).map(
    (name) => `${name} ${wall[name]} : ${range(valuesOf(name))}`,
  );
  const time = `node-minutes ${times} (allowed ${Math.round(100 * allowed)} %)`;
  return { line: [time, ...counts].join(", "), differences };
}

function range(values: readonly number[], digits = 0): string {
  const [least, most] = [Math.min(...values), Math.max(...values)].map((one) => one.toFixed(digits));
  return least === most ? `${least}` : `${least}–${most}`;
}
