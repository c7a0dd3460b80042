import type { Duration } from "./core/duration.ts";

type Kind =
  /** From `least` to `most`. `zero`: what 0s means, where that is allowed too; `or`: a word that is allowed instead. */
  | Readonly<{
      kind: "duration";
      least: Duration;
      most: Duration;
      zero?: string;
      or?: string;
      whole?: "minutes";
    }>
  | Readonly<{ kind: "choice"; choices: readonly string[] }>
  | Readonly<{ kind: "text"; pattern: RegExp; expected: string; example: string }>
  /** The pattern is that of each item; commas separate them unless another sign does. */
  | Readonly<{ kind: "list"; separator?: string; pattern: RegExp; expected: string; example: string }>;

export type Setting = Readonly<{
  value: Kind;
  /** What it means, as the documents print it; they add limits and default. */
  help: string;
  /** As a user writes it. */
  default?: string;
  /** What the documents print when there is no default. */
  unset?: string;
  /** The default of `run`, where it differs. */
  runDefault?: string;
  /** Resources are computed from it, so a ready-made template cannot have it as a parameter. */
  constructOnly?: true;
  /** The name of the construct's prop, where that is an object of the CDK. */
  prop?: string;
}>;
export type SettingsTable = Readonly<Record<string, Setting>>;
