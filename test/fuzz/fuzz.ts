import { inspect } from "node:util";
import { expect, it } from "vitest";
import fc from "../support/fast-check.ts";

// Enough to find the known mistakes again, in the time of `npm test`.
const times = Number(process.env.FUZZ_TIMES ?? 0.4);

type Inputs<Given extends unknown[]> = Readonly<{
  runs: number;
  given: { [K in keyof Given]: fc.Arbitrary<Given[K]> };
  /** Inputs of every run. */
  examples?: Given[];
}>;

/**
 * Plays a test with many inputs: the same at every `npm test`; others, and more, with
 * `FUZZ_SEED=7 FUZZ_TIMES=100 npx vitest run test/fuzz`. A busy machine skips those left after twelve seconds.
 */
export function fuzzed<Given extends [unknown, ...unknown[]]>(
  title: string,
  play: (...given: Given) => Promise<void>,
  { runs, given, examples = [] }: Inputs<Given>,
): void {
  const longer = Math.max(1, times);
  const test = async () => {
    const end = performance.now() + 12_000 * longer;
    const inTime = async (...values: Given) => {
      if (performance.now() < end) await play(...values);
    };
    await fc.assert(fc.asyncProperty(...given, inTime), { numRuns: Math.ceil(runs * times), examples });
  };
  // Longer than its runs and its slowest input.
  it(title, test, 90_000 * longer);
}

/** An error with all its fields and causes, as the most detailed log would print it. */
export const everythingIn = (error: unknown): string =>
  inspect(error, { depth: 20, maxStringLength: null, maxArrayLength: null });

/** Checks that an error is one of ours, readable, and without secrets. */
export function expectClear(
  error: unknown,
  kinds: readonly (abstract new (...given: never[]) => Error)[],
  secrets: readonly string[],
): void {
  const isKnown = kinds.some((kind) => error instanceof kind);
  expect(isKnown, `not one of our errors: ${everythingIn(error)}`).toBe(true);
  const message = error instanceof Error ? error.message : "";
  expect(message).not.toMatch(/undefined|\[object |is not a function|is not iterable|Cannot read prop/);
  expect(message.length, message.slice(0, 500)).toBeLessThan(3_000);
  expectSecret(everythingIn(error), secrets);
}

/** Checks that a text contains no secret, plain or in Base64. */
export function expectSecret(text: string, secrets: readonly string[]): void {
  for (const secret of secrets) {
    expect(text.includes(secret), `${secret} in ${text}`).toBe(false);
    expect(text.includes(Buffer.from(secret).toString("base64")), `Base64 of ${secret}`).toBe(false);
  }
}

/** The error with which a promise rejects, or undefined. */
export const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error ?? new Error("nothing was thrown"),
  );
