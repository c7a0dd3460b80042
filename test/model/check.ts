import fc from "../support/fast-check.ts";
import { commands, goodCommands, settings } from "./commands.ts";
import { habits, playHabit } from "./habit.ts";
import { play, playOnGoodDay } from "./run.ts";

const properties = {
  /** Anything may happen. */
  any: fc.asyncProperty(settings, commands(50), play),
  /** Nothing fails. */
  "good-day": fc.asyncProperty(settings, goodCommands(50), playOnGoodDay),
  /** Nothing fails, and the same nodes are needed again and again. */
  habit: fc.asyncProperty(habits, fc.constant([] as const), playHabit),
};
export type Kind = keyof typeof properties;
export const isKind = (text: string): text is Kind => Object.hasOwn(properties, text);

export type Replay = Readonly<{ seed: number; runs: number; path?: string; kind?: Kind }>;

/** Plays random runs; returns undefined, or the smallest failing run and its broken rule. */
export async function check({ seed, runs, path, kind = "any" }: Replay): Promise<string | undefined> {
  const replay = path === undefined ? {} : { path, endOnFailure: true };
  const property = properties[kind] as fc.IAsyncProperty<[setting: unknown, sequence: readonly unknown[]]>;
  const found = await fc.check(property, { numRuns: runs, seed, ...replay });
  if (!found.failed) return undefined;
  const { counterexample, errorInstance, counterexamplePath } = found;
  const [setting, sequence = []] = counterexample ?? [];
  return [
    errorInstance instanceof Error ? errorInstance.stack : String(errorInstance),
    `with ${JSON.stringify(setting)}`,
    ...sequence.map((command) => `  ${JSON.stringify(command)}`),
    `again: npm run torture -- --seed ${seed} --path ${counterexamplePath}${kind === "any" ? "" : ` --kind ${kind}`}`,
  ].join("\n");
}
