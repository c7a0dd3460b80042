/** Maps a range of values onto a range of places. */
export type Scale = (value: number) => number;

export function scaleOf(from: number, to: number, begin: number, end: number): Scale {
  const span = to - from || 1;
  return (value) => begin + ((value - from) / span) * (end - begin);
}

/** Round numbers from 0 to at least the largest value, about as many as wished. */
export function numberTicks(largest: number, wished = 5): readonly number[] {
  const top = largest > 0 ? largest : 1;
  const rough = top / wished;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((one) => one * power >= rough) ?? 10);
  const count = Math.max(1, Math.ceil(top / step - 1e-9));
  return Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const steps = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * second),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
  ...[1, 2, 3, 6, 12].map((n) => n * hour),
];

/** The length of time between two ticks that gives at most so many of them. */
export function timeStep(span: number, most = 12): number {
  const fits = steps.find((step) => span / step <= most);
  return fits ?? Math.ceil(span / day / most) * day;
}

/** Round moments within a range. */
export function timeTicks(from: number, to: number, most = 12): readonly number[] {
  const step = timeStep(to - from, most);
  const first = Math.ceil(from / step) * step;
  const count = Math.max(0, Math.floor((to - first) / step) + 1);
  return Array.from({ length: count }, (_, i) => first + i * step);
}

/** A number as a reader wants it: 1,234 or 0.25. */
export const formatNumber = (value: number): string =>
  value.toLocaleString("en", { maximumSignificantDigits: Math.abs(value) >= 1_000 ? 15 : 3 });
