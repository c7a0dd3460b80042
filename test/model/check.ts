import fc from "../support/fast-check.ts";
import { commands, goodCommands, settings } from "./random-commands.ts";
import { play, playOnGoodDay } from "./run.ts";

export type Replay = Readonly<{ seed: number; runs: number; path?: string; isGoodDay?: boolean }>;

/** Plays random runs; returns undefined, or the smallest failing run and its broken rule. */
export async function check({ seed, runs, path, isGoodDay = false }: Replay): Promise<string | undefined> {
  const property = isGoodDay
    ? fc.asyncProperty(settings, goodCommands(50), playOnGoodDay)
    : fc.asyncProperty(settings, commands(50), play);
  const replay = path === undefined ? {} : { path, endOnFailure: true };
  const found = await fc.check(property, { numRuns: runs, seed, ...replay });
  if (!found.failed) return undefined;
  const { counterexample, errorInstance, counterexamplePath } = found;
  const [setting, sequence = []] = counterexample ?? [];
  return [
    errorInstance instanceof Error ? errorInstance.stack : String(errorInstance),
    `with ${JSON.stringify(setting)}`,
    ...sequence.map((command) => `  ${JSON.stringify(command)}`),
    `again: npm run torture -- --seed ${seed} --path ${counterexamplePath}${isGoodDay ? " --good-day" : ""}`,
  ].join("\n");
}
