/** How times are shown: as UTC, with or without the date; the reader's time is so many minutes ahead. */
export type ClockStyle = Readonly<{ isDated?: boolean; offset?: number }>;

/** The time of day, with the date where the same time of day would come twice. */
export const utcFor = (from: number, to: number, offset = 0): ClockStyle => ({
  isDated: to - from > 86_400_000,
  offset,
});

/** A moment as an axis or a hint shows it. */
export function formatTime(at: number, { isDated }: ClockStyle): string {
  const iso = new Date(at).toISOString();
  return isDated ? `${iso.slice(5, 10)} ${iso.slice(11, 16)}` : iso.slice(11, 19);
}

/** A later moment in a sentence: as UTC, and as the reader's time where that differs; with its date where it is not within a day. */
export function formatMoment(
  at: number,
  { now, offset }: Readonly<{ now: number; offset?: number | undefined }>,
): string {
  const clock = utcFor(now, at, offset);
  const shown = `${formatTime(at, clock)} UTC`;
  return clock.offset ? `${shown} (${localTime(at, clock)} local time)` : shown;
}

/** The time of day where the reader is. */
export const localTime = (at: number, clock: ClockStyle): string =>
  formatTime(at + (clock.offset ?? 0) * 60_000, clock);

/** A length of time: "45 s", "3 min", "3 min 20 s", "2 h 5 min". */
export function formatSpan(length: number): string {
  const seconds = Math.round(length / 1_000);
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

/** A number of things in words. */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;
