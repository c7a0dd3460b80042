import { setTimeout as sleep } from "node:timers/promises";
import type { Ask } from "../../cli/control/client.ts";
import type { Account } from "../../cli/doctor/aws/aws-account.ts";
import type { AwsConfig } from "../../cli/terminal/cluster-flags.ts";
import { table } from "../../cli/terminal/text.ts";
import type { Duration } from "../../lambda/core/duration.ts";
import type { Cdk } from "./cdk.ts";
import type { ClusterView } from "./cluster-view.ts";

/** What every check of one run shares. */
export type Smoke = Readonly<{
  cluster: string;
  account: string;
  region: string;
  aws: AwsConfig;
  report: (line: string) => void;
  signal: AbortSignal;
}>;

/** What the checks of one run use. */
export type Tools = Readonly<{
  smoke: Smoke;
  isInVpc: boolean;
  cdk: Cdk;
  account: Account;
  /** Asks the control function. */
  ask: Ask;
  view: ClusterView | undefined;
  waitForLaunch: Duration;
  ledger: Readonly<{ file: string; lasts: Duration; every: Duration }> | undefined;
}>;

/** Polls until there is an answer, or the time is over. */
export async function poll<T>(
  { signal }: Pick<Smoke, "signal">,
  { every, within }: Readonly<{ every: Duration; within: Duration }>,
  ask: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const end = Date.now() + within;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined || Date.now() >= end) return answer;
    await sleep(every, undefined, { signal });
  }
}

export const inSeconds = (duration: Duration): string => `${Math.round(duration / 100) / 10} s`;

export type Verdict = "holds" | "broken" | "open";
export type Seen = Readonly<{ seen: string; verdict: Verdict }>;
/** One thing that the holder assumes about AWS. */
export type Assumption = Readonly<{ assumption: string; expected: string }>;
export type Row = Seen & Assumption;

/** How an account shows whether it is so. */
export type Check = Assumption & Readonly<{ look: (tools: Tools) => Promise<Seen> }>;

export const judged = (isAsExpected: boolean, seen: string): Seen => ({
  seen,
  verdict: isAsExpected ? "holds" : "broken",
});

/** A check that fails for any other reason counts as broken too, because it proved nothing. */
export async function rowOf({ assumption, expected, look }: Check, tools: Tools): Promise<Row> {
  try {
    return { assumption, expected, ...(await look(tools)) };
  } catch (error) {
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { assumption, expected, seen: reason, verdict: "broken" };
  }
}

export const notLookedAt = (why = ""): Seen => ({
  seen: `not looked at${why && `: ${why}`}`,
  verdict: "open",
});

export const labels = { holds: "ok", broken: "BROKEN", open: "open" } as const;

/** A row for each check: what was assumed, expected and seen. */
export const tableOf = (rows: readonly Row[]): readonly string[] =>
  table([
    ["", "ASSUMPTION", "EXPECTED", "SEEN"],
    ...rows.map(({ assumption, expected, seen, verdict }) => [labels[verdict], assumption, expected, seen]),
  ]);

/** True as soon as nothing is found; what is still found when the time is over is broken. */
export async function judgedEmpty(
  smoke: Smoke,
  times: Readonly<{ every: Duration; within: Duration }>,
  find: () => Promise<readonly string[]>,
): Promise<Seen> {
  let found: readonly string[] = [];
  const isEmpty = await poll(smoke, times, async () => {
    found = await find();
    return found.length === 0 ? true : undefined;
  });
  return judged(isEmpty === true, found.join("; ") || "nothing");
}
