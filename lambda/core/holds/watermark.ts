import type { ScopeRecord, Silence } from "./hold.ts";

/** A pause without an end lasts until it is resumed. */
export const untilResumed = new Date("9999-12-31T00:00:00.000Z");

/** From when launches count for a scope, and why not earlier. */
export type Watermark = Readonly<{ from: Date; quiet?: Silence }>;

/** A pause or release of the whole cluster counts in every scope. */
export function watermarkOf(record: ScopeRecord, whole?: ScopeRecord): Watermark {
  const marks = [record, ...(whole ? [whole] : [])].map(
    ({ launchesCountFrom: from = new Date(0), quiet }): Watermark => (quiet ? { from, quiet } : { from }),
  );
  return marks.reduce((a, b) => (b.from > a.from ? b : a));
}

/** Silences a scope: launches before that time never count, however late they are reported. */
export const silenced = (record: ScopeRecord, from: Date, quiet: Silence): ScopeRecord => ({
  ...record,
  launchesCountFrom: from,
  quiet,
});

/** Ends a silence: launches from that time on count. */
export function countingFrom(record: ScopeRecord, from: Date): ScopeRecord {
  const { quiet: _, ...rest } = record;
  return { ...rest, launchesCountFrom: from };
}

/** Forgets a last launch dated ahead of our clock: launches after it would look old. */
export function withoutLaunchAhead(record: ScopeRecord, now: Date): ScopeRecord {
  const { lastLaunchAt, ...rest } = record;
  return lastLaunchAt && lastLaunchAt > now ? rest : record;
}

export const isPaused = (watermark: Watermark, now: Date): boolean =>
  watermark.quiet?.kind === "paused" && watermark.from > now;

/** Why launches before the watermark do not count. */
export function whyNoneCounts({ from, quiet }: Watermark, now: Date): string {
  if (from <= now) return "it was launched before launches began to count again";
  const until = from >= untilResumed ? "resumed" : from.toISOString();
  return `${quiet?.kind ?? "released"} until ${until}${quiet ? ` (${quiet.because})` : ""}`;
}
