import { median } from "./figure.ts";

/** What one piece of work took: time, and processor time of this process. */
export type Cost = Readonly<{ time: number; cpu: number }>;
export type Rounds<Name extends string> = Readonly<Record<Name, readonly Cost[]>>;
type Works<Name extends string> = Readonly<Partial<Record<Name, (round: number) => Promise<unknown>>>>;

/** Each group takes its turn again and again, in alternating order, so that a slow moment hits all alike. */
export async function inRounds<Name extends string>(
  rounds: number,
  groups: readonly Works<Name>[],
  onRound: (round: number) => void,
): Promise<Rounds<Name>> {
  const costs: Partial<Record<Name, Cost[]>> = {};
  for (let round = 0; round < rounds; round++) {
    for (const group of round % 2 === 0 ? groups : groups.toReversed()) {
      for (const name of Object.keys(group) as Name[]) {
        const work = group[name];
        if (work) costs[name] = [...(costs[name] ?? []), await measureCost(() => work(round))];
      }
    }
    onRound(round + 1);
  }
  return costs as Rounds<Name>;
}

async function measureCost(work: () => Promise<unknown>): Promise<Cost> {
  const before = process.cpuUsage();
  const began = performance.now();
  await work();
  const time = performance.now() - began;
  const { user, system } = process.cpuUsage(before);
  return { time, cpu: (user + system) / 1000 };
}

/** The medians. */
export const costOf = (costs: readonly Cost[]): Cost => ({
  time: median(costs.map((one) => one.time)),
  cpu: median(costs.map((one) => one.cpu)),
});

/** Processor time for each of so many. */
export const cpu = (cost: Cost, among: number): string =>
  `processor ${Math.round((cost.cpu / among) * 1000)} µs each`;
