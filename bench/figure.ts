/** One measured figure, beside what it is measured against. */
export type Figure = Readonly<{
  what: string;
  value: string;
  beside?: string;
  goal?: string;
  reached?: boolean;
  /** What this figure adds to the benchmark's plot. */
  bars?: readonly BarValue[];
}>;

/** One bar of a benchmark's plot. */
export type BarValue = Readonly<{ group: string; series: string; value: number }>;

export type Bench = Readonly<{
  name: string;
  title: string;
  axis?: Readonly<{ label: string; unit: string }>;
  run(): Promise<readonly Figure[]>;
}>;

export const ms = (value: number): string => `${Math.round(value).toLocaleString("en")} ms`;
export const rate = (count: number, millis: number): string =>
  `${Math.round((count * 1000) / millis).toLocaleString("en")}/s`;

/** How long something takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};
