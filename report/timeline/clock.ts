/** How times are shown: since the beginning, with minutes of a given length, or as UTC; `offset` is the reader's, in minutes. */
export type ClockStyle =
  | Readonly<{ kind: "elapsed"; minute: number }>
  | Readonly<{ kind: "utc"; isDated?: boolean; offset?: number }>;

export const realMinute = 60_000;

/** The time of day in UTC, with the date where the same time of day would come twice. */
export const utcFor = (from: number, to: number, offset = 0): ClockStyle => ({
  kind: "utc",
  isDated: to - from > 86_400_000,
  offset,
});

/** A moment as an axis or a hint shows it. */
export function formatTime(at: number, origin: number, clock: ClockStyle): string {
  if (clock.kind === "utc") {
    const iso = new Date(at).toISOString();
    return clock.isDated ? `${iso.slice(5, 10)} ${iso.slice(11, 16)}` : iso.slice(11, 19);
  }
  return `${at < origin ? "−" : ""}${minutesAndSeconds(Math.abs(at - origin) * (realMinute / clock.minute))}`;
}

/** A moment in a sentence: as UTC, and as the reader's time where that differs. */
export function formatMoment(at: number, origin: number, clock: ClockStyle): string {
  const shown = formatTime(at, origin, clock);
  if (clock.kind === "elapsed") return shown;
  return clock.offset ? `${shown} UTC (${localTime(at, clock)} local time)` : `${shown} UTC`;
}

/** The time of day where the reader is. */
export const localTime = (at: number, clock: ClockStyle & { kind: "utc" }): string =>
  formatTime(at + (clock.offset ?? 0) * realMinute, at, clock);

/** A length of time: "45 s", "3 min", "3 min 20 s", "2 h 5 min". */
export function formatSpan(length: number, clock: ClockStyle): string {
  const shown = clock.kind === "utc" ? length : length * (realMinute / clock.minute);
  const seconds = Math.round(shown / 1_000);
  const sizes = [86_400, 3_600, 60, 1] as const;
  const first = sizes.findIndex((size) => seconds >= size);
  const [d, h, m, s] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
    seconds % 60,
  ];
  const parts = [d && `${d} d`, h && `${h} h`, m && `${m} min`, s && `${s} s`];
  // Two parts are enough: seconds mean nothing to a day.
  return (
    parts
      .slice(Math.max(0, first), first + 2)
      .filter(Boolean)
      .join(" ") || "0 s"
  );
}

function minutesAndSeconds(length: number): string {
  const seconds = Math.round(length / 1_000);
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (n: number) => String(n).padStart(2, "0");
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** A number of things in words. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
