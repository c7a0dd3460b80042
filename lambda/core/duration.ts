/** A length of time in milliseconds. */
export type Duration = number;

export const seconds = (n: number): Duration => n * 1_000;
export const minutes = (n: number): Duration => seconds(n * 60);
export const hours = (n: number): Duration => minutes(n * 60);

const units = { h: hours(1), m: minutes(1), s: seconds(1) } as const;
const pattern = /^(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,7})s)?$/;

/** Reads "90s", "20m" or "1h30m", as Karpenter and kubectl write them; undefined for any other text. */
export function parseDuration(text: string): Duration | undefined {
  const match = pattern.exec(text.trim());
  const [, h, m, s] = match ?? [];
  if (h === undefined && m === undefined && s === undefined) return undefined;
  return Number(h ?? 0) * units.h + Number(m ?? 0) * units.m + Number(s ?? 0) * units.s;
}

/** Writes a duration the way it is read: "1h30m"; parts of a second are dropped. */
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
