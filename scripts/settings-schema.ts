import { meaningOf, runSettings } from "../infra/settings/deployment.ts";
import type { Setting, SettingsTable } from "../lambda/settings-table.ts";

/** The settings of `run` as a JSON schema, for the values of a chart. */
export function settingsSchema(table: SettingsTable = runSettings) {
  const settings = Object.entries(table);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    additionalProperties: false,
    required: settings.flatMap(([name, { unset }]) => (unset === "required" ? [name] : [])),
    properties: Object.fromEntries(settings.map(([name, setting]) => [name, propertyOf(setting)])),
  };
}

function propertyOf(setting: Setting) {
  const fallback = setting.runDefault ?? setting.default;
  return {
    description: meaningOf(setting),
    ...(fallback !== undefined && { default: fallback }),
    ...typeOf(setting),
  };
}

/** Limits of durations are checked by the chart's template. */
function typeOf({ value }: Setting) {
  switch (value.kind) {
    case "duration":
      return { type: "string", pattern: value.or ? `^(${duration}|${value.or})$` : `^${duration}$` };
    case "choice":
      // YAML reads true and false as they are, not as text.
      return { enum: [...value.choices, ...(value.choices.includes("true") ? [false, true] : [])] };
    case "list":
      return { type: "array", items: { type: "string", ...patternOf(value) } };
    case "text":
      return { type: "string", ...patternOf(value) };
  }
}

/** As `parseDuration` reads it, or nothing. */
const duration = "([0-9]{1,4}d)?([0-9]{1,6}h)?([0-9]{1,6}m)?([0-9]{1,7}s)?";

/** Helm reads patterns with Go, which knows no lookahead; the whole pattern is checked when a setting is read. */
const patternOf = ({ pattern: { source } }: Readonly<{ pattern: RegExp }>) => ({
  pattern: source.replaceAll(/\(\?=[^)]*\)/g, ""),
});
