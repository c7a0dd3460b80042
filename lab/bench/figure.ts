import type { Task } from "../../cli/terminal/progress.ts";

/** One measured figure and its reference. */
export type Figure = Readonly<{
  what: string;
  value: string;
  beside?: string;
  goal?: string;
  reached?: boolean;
}>;

/** Quick: just enough to show that everything works; such figures mean nothing. */
export type Size = "whole" | "quick";

/** Reports how much is done, from 0 to 1, and what is done now. */
export type Advance = Task["advance"];

export type Bench = Readonly<{
  name: string;
  title: string;
  /** About how long it takes on two cores; the time left is estimated with it. */
  seconds: number;
  run(size: Size, advance: Advance): Promise<readonly Figure[]>;
}>;

export const ms = (value: number): string => `${count(Math.round(value))} ms`;
export const count = (value: number): string => value.toLocaleString("en");

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};
