import { inspect } from "node:util";
import { expect } from "vitest";

// Enough to find again what was found, in the time that `npm test` has.
const times = Number(process.env.FUZZ_TIMES ?? 0.4);

/**
 * How a fuzz test plays: the same inputs at every `npm test`; others, and more of them, with
 * `FUZZ_SEED=7 FUZZ_TIMES=100 npx vitest run test/fuzz`.
 */
export const fuzz = (runs: number) => ({ numRuns: Math.ceil(runs * times) });

/** Longer than a fuzz test plays, and than the longest that one input may take it. */
export const fuzzTime = 90_000 * Math.max(1, times);

/** What is played with each input; when much time has passed on a busy machine, the rest is left out. */
export function inTime<Given extends unknown[]>(play: (...given: Given) => Promise<void>) {
  const end = performance.now() + 12_000 * Math.max(1, times);
  return async (...given: Given): Promise<void> => {
    if (performance.now() < end) await play(...given);
  };
}

/** Whatever an error carries for all to see, down to its last cause, as the most talkative log would report it. */
export const everythingIn = (error: unknown): string =>
  inspect(error, { depth: 20, maxStringLength: null, maxArrayLength: null });

/** The error is one of ours, can be read by people, and gives nothing away. */
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

/** None of the secrets stands in a text, nor their Base64. */
export function expectSecret(text: string, secrets: readonly string[]): void {
  for (const secret of secrets) {
    expect(text.includes(secret), `${secret} in ${text}`).toBe(false);
    expect(text.includes(Buffer.from(secret).toString("base64")), `Base64 of ${secret}`).toBe(false);
  }
}

/** An error that a work ended with; undefined when it ended well. */
export const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error ?? new Error("nothing was thrown"),
  );
