import { formatDuration, minutes, parseDuration } from "../../lambda/core/duration.ts";
import type { Setting, SettingsTable } from "../../lambda/settings-table.ts";

/** A value that is not the default, as text. */
function otherValue({ value, default: usual = "" }: Setting): string {
  if (value.kind === "duration") return formatDuration((parseDuration(usual) ?? minutes(29)) + minutes(1));
  if (value.kind === "choice") return value.choices.find((choice) => choice !== usual) ?? usual;
  return value.example;
}

/** They have an effect with `hold=auto` only, so they cannot be beside another `hold`. */
const ofAuto: readonly string[] = ["relaunchCost", "evictionCost"];

function valuesOf(table: SettingsTable, isChosen: (name: string) => boolean): Record<string, string> {
  const chosen = Object.entries(table).filter(([name]) => isChosen(name));
  return Object.fromEntries(
    chosen.map(([name, setting]) => {
      // With another scope, a window names what it holds.
      const ofPool = name === "holdDuring" && "scope" in table ? " nodepool/batch" : "";
      return [name, otherValue(setting) + ofPool];
    }),
  );
}

/** Every setting of a table with a value that is not its default, but for those of `hold=auto`. */
export const otherValues = (table: SettingsTable) => valuesOf(table, (name) => !ofAuto.includes(name));

/** The settings of `hold=auto` with values that are not their defaults. */
export const otherCosts = (table: SettingsTable) => valuesOf(table, (name) => ofAuto.includes(name));
