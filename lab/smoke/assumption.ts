import { table } from "../../cli/terminal/table.ts";

/** `noted`: the holder does not rely on it; the table records what the account does. */
export type Verdict = "holds" | "broken" | "noted";
export type Seen = Readonly<{ seen: string; verdict: Verdict }>;
export type Row = Seen & Readonly<{ assumption: string; expected: string }>;

/** One thing that the holder assumes about AWS, and how an account shows whether it is so. */
export type Check = Readonly<{ assumption: string; expected: string; look: () => Promise<Seen> }>;

export const judged = (isAsExpected: boolean, seen: string): Seen => ({
  seen,
  verdict: isAsExpected ? "holds" : "broken",
});
export const noted = (seen: string): Seen => ({ seen, verdict: "noted" });

/** A check that fails for another reason than its assumption counts as broken: nothing was proven. */
export async function rowOf({ assumption, expected, look }: Check): Promise<Row> {
  try {
    return { assumption, expected, ...(await look()) };
  } catch (error) {
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { assumption, expected, seen: reason, verdict: "broken" };
  }
}

export const labels = { holds: "ok", broken: "BROKEN", noted: "noted" } as const;

/** What was assumed, expected and seen, a row each. */
export const tableOf = (rows: readonly Row[]): readonly string[] =>
  table([
    ["", "ASSUMPTION", "EXPECTED", "SEEN"],
    ...rows.map(({ assumption, expected, seen, verdict }) => [labels[verdict], assumption, expected, seen]),
  ]);
