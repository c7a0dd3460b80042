import { cpus } from "node:os";
import { setTimeout as pause } from "node:timers/promises";

type Times = Readonly<{ idle: number; total: number }>;

const sampled = 2_000;
/** The largest share of the processors that other work may use; above it, figures measure that work more than ours. */
const mostInUse = 0.1;

/** Why no page may be written now; undefined on a quiet machine. */
export async function whyBusy(): Promise<string | undefined> {
  const before = processorTimes();
  await pause(sampled);
  return busyBetween(before, processorTimes());
}

export function busyBetween(before: Times, after: Times): string | undefined {
  const inUse = 1 - (after.idle - before.idle) / (after.total - before.total);
  if (inUse <= mostInUse) return undefined;
  return (
    `the machine is busy with other work (${Math.round(inUse * 100)} % of its processors): ` +
    "the page is not written. Run it again on a quiet machine"
  );
}

function processorTimes(): Times {
  const all = cpus().map(({ times }) => times);
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return { idle: sum(all.map(({ idle }) => idle)), total: sum(all.flatMap((times) => Object.values(times))) };
}
