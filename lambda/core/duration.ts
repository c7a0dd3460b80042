/** A length of time in milliseconds. */
export type Duration = number;

export const seconds = (n: number): Duration => n * 1_000;
export const minutes = (n: number): Duration => seconds(n * 60);
export const hours = (n: number): Duration => minutes(n * 60);

const units = { h: hours(1), m: minutes(1), s: seconds(1) } as const;
const pattern = /^(?=\d)(?:(\d{1,4})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,7})s)?$/;

/** Reads "90s", "20m" or "1h30m", as Karpenter and kubectl write them, and "7d"; undefined for any other text. */
export function parseDuration(text: string): Duration | undefined {
  const match = pattern.exec(text.trim());
  if (!match) return undefined;
  const [d = 0, h = 0, m = 0, s = 0] = match.slice(1).map((count = "0") => Number(count));
  return hours(24 * d + h) + minutes(m) + seconds(s);
}

/** Writes a duration without days, as Karpenter reads it: "1h30m"; parts of a second are dropped. */
export function formatDuration(duration: Duration): string {
  let rest = Math.floor(duration / units.s) * units.s;
  const parts = Object.entries(units).map(([unit, size]) => {
    const n = Math.floor(rest / size);
    rest -= n * size;
    return n > 0 ? `${n}${unit}` : "";
  });
  return parts.join("") || "0s";
}

export const after = (moment: Date, duration: Duration): Date => new Date(moment.getTime() + duration);
export const earlier = (a: Date, b: Date): Date => (a < b ? a : b);
export const later = (a: Date, b: Date): Date => (a > b ? a : b);
export const earliest = (moments: readonly Date[]): Date | undefined =>
  moments.length > 0 ? moments.reduce(earlier) : undefined;
export const latest = (moments: readonly Date[]): Date | undefined =>
  moments.length > 0 ? moments.reduce(later) : undefined;
