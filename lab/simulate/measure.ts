import type { Terms } from "../../lambda/core/auto/staircase.ts";
import { type Duration, hours, minutes } from "../../lambda/core/duration.ts";
import {
  autoKeeper,
  costOfBestConstant,
  costOfOptimum,
  eachNode,
  type Keeper,
  nodeByNode,
  play,
  wholeCluster,
} from "./play.ts";
import { type Family, families, type Trace, traceOf } from "./traces.ts";

/** The defaults of the settings. */
export const terms: Terms = { relaunchCost: minutes(10), cap: hours(2) };

const keepers = {
  "nothing kept": () => eachNode(0),
  "10m per node": () => eachNode(minutes(10)),
  "20m per node": () => eachNode(minutes(20)),
  "20m for all": () => wholeCluster(minutes(20)),
  "each node for as long as pays": (limits) => nodeByNode(limits),
  "**hold=auto**": (limits) => autoKeeper(limits),
  "hold=auto, pods on 2 × the nodes": (limits) => autoKeeper(limits, 2),
  "hold=auto, pods on 4 × the nodes": (limits) => autoKeeper(limits, 4),
} satisfies Record<string, (limits: Terms) => Keeper>;

export type Arm = keyof typeof keepers | "best constant per node" | "best constant for all";
export const auto: Arm = "**hold=auto**";
export const bestPerNode: Arm = "best constant per node";
export const arms = [
  ...(Object.keys(keepers) as Arm[]),
  bestPerNode,
  "best constant for all",
] as readonly Arm[];

/** Lengths of which the best for the whole cluster is chosen. */
const constants: readonly Duration[] = [0, 1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120].map(minutes);

export type Ratios = Readonly<Record<Arm, number>>;

/** What each arm cost, as a ratio to the offline optimum: for each level and gap the smaller of gap and `relaunchCost`. */
export function ratiosOf(trace: Trace, limits: Terms): Ratios {
  const { gaps } = play(trace, eachNode(0), limits);
  const costs = [
    ...Object.values(keepers).map((keeper) => play(trace, keeper(limits), limits).cost),
    costOfBestConstant(gaps, limits),
    Math.min(...constants.map((length) => play(trace, wholeCluster(length), limits).cost)),
  ];
  const optimum = costOfOptimum(gaps, limits);
  return Object.fromEntries(arms.map((arm, at) => [arm, (costs[at] ?? 0) / optimum])) as Ratios;
}

export const meanOf = (rows: readonly Ratios[]): Ratios =>
  Object.fromEntries(
    arms.map((arm) => [arm, rows.reduce((sum, row) => sum + row[arm], 0) / rows.length]),
  ) as Ratios;

export type Step = Readonly<{ family: Family; count: number }>;
export type Measured = Step & Readonly<{ ratios: Ratios }>;

export const stepsFor = (counts: readonly number[]): readonly Step[] =>
  counts.flatMap((count) => families.map((family) => ({ family, count })));

/** One family at one number of bursts, the mean of so many traces. */
export function measure(step: Step, traces: number, advance: (share: number) => void = () => {}): Measured {
  const rows = Array.from({ length: traces }, (_, number) => {
    advance(number / traces);
    return ratiosOf(traceOf(step.family, number, step.count), terms);
  });
  return { ...step, ratios: meanOf(rows) };
}
