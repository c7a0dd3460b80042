import { inspect } from "node:util";
import { expect } from "vitest";

// Enough to find the known mistakes again, in the time of `npm test`.
const times = Number(process.env.FUZZ_TIMES ?? 0.4);

/**
 * The runs of a fuzz test: the same inputs at every `npm test`; others, and more, with
 * `FUZZ_SEED=7 FUZZ_TIMES=100 npx vitest run test/fuzz`.
 */
export const fuzz = (runs: number) => ({ numRuns: Math.ceil(runs * times) });

/** The timeout of a fuzz test: longer than its runs and its slowest input. */
export const fuzzTime = 90_000 * Math.max(1, times);

/** Runs a test with each input until a time limit, so that a busy machine skips the rest. */
export function inTime<Given extends unknown[]>(play: (...given: Given) => Promise<void>) {
  const end = performance.now() + 12_000 * Math.max(1, times);
  return async (...given: Given): Promise<void> => {
    if (performance.now() < end) await play(...given);
  };
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
