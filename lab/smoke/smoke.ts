import { setTimeout as sleep } from "node:timers/promises";
import type { AwsConfig } from "../../cli/terminal/cluster-flags.ts";
import type { Duration } from "../../lambda/core/duration.ts";
import type { Cleanup } from "./cleanup.ts";

/** What every check of one run shares. */
export type Smoke = Readonly<{
  cluster: string;
  account: string;
  region: string;
  partition: string;
  /** Every temporary resource is named so. */
  prefix: string;
  aws: AwsConfig;
  cleanup: Cleanup;
  report: (line: string) => void;
  signal: AbortSignal;
}>;

/** Asks until there is an answer, or the time is over. */
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

/** Retries while an error has this name: what IAM or EKS has just created is known everywhere only after seconds. */
export async function whileNamed<T>(smoke: Smoke, name: string, act: () => Promise<T>): Promise<T> {
  let last: unknown;
  const done = await poll(smoke, { every: 1_000, within: 60_000 }, async () => {
    try {
      return { value: await act() };
    } catch (error) {
      if (!(error instanceof Error) || error.name !== name) throw error;
      last = error;
      return undefined;
    }
  });
  if (!done) throw last;
  return done.value;
}

export const inSeconds = (duration: Duration): string => `${Math.round(duration / 100) / 10} s`;
