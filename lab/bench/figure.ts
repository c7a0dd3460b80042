import type { Task } from "../../cli/terminal/progress.ts";
import type { BarPlot } from "../../report/plots/bar-plot.ts";
import type { LinePlot } from "../../report/plots/line-plot.ts";

/** One measured figure, beside what it is measured against. */
export type Figure = Readonly<{
  what: string;
  value: string;
  beside?: string;
  goal?: string;
  reached?: boolean;
}>;

/** A plot of a benchmark, by the name of its picture. */
export type Plot = Readonly<{ name: string } & ({ lines: LinePlot } | { bars: BarPlot })>;

export type Measured = Readonly<{ figures: readonly Figure[]; plots?: readonly Plot[]; notes?: string }>;

/** Quick: as much of everything as it takes to see that it works; such figures say nothing. */
export type Size = "whole" | "quick";

/** Reports how much is done, from 0 to 1, and what is done now. */
export type Advance = Task["advance"];

export type Bench = Readonly<{
  name: string;
  title: string;
  /** About how long it takes on two cores; the time left is estimated with it. */
  seconds: number;
  run(size: Size, advance: Advance): Promise<Measured>;
}>;

export const ms = (value: number): string => `${count(Math.round(value))} ms`;
export const count = (value: number): string => value.toLocaleString("en");
export const rate = (done: number, millis: number): string =>
  `${count(Math.round((done * 1000) / millis))}/s`;

/** How long something takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};
