import { formatDuration, minutes, parseDuration } from "../../lambda/core/duration.ts";
import type { Setting, SettingsTable } from "../../lambda/settings-table.ts";

/** A value that is not the default, as text. */
function otherValue({ value, default: usual = "" }: Setting): string {
  if (value.kind === "duration" && value.or) return value.or;
  if (value.kind === "duration") return formatDuration((parseDuration(usual) ?? 0) + minutes(1));
  if (value.kind === "choice") return value.choices.find((choice) => choice !== usual) ?? usual;
  return value.example;
}

/** Every setting of a table with a value that is not its default. */
export const otherValues = (table: SettingsTable): Record<string, string> =>
  Object.fromEntries(
    Object.entries(table).map(([name, setting]) => {
      // With another scope, a window names what it holds.
      const ofPool = name === "holdDuring" && "scope" in table ? " nodepool/batch" : "";
      return [name, otherValue(setting) + ofPool];
    }),
  );
