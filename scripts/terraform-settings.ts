import { meaningOf, settingsTable } from "../infra/settings/deployment.ts";
import { SettingEnvironment } from "../lambda/environment.ts";
import { expectedOf } from "../lambda/settings.ts";
import type { Setting, SettingsTable } from "../lambda/settings-table.ts";

/** The settings that a ready-made template has: variables of the Terraform module, their values and what is wrong with them. */
export function terraformSettings(table: SettingsTable = settingsTable): string {
  const settings = Object.entries(table).filter(([, { constructOnly }]) => !constructOnly);
  const variables = Object.entries(SettingEnvironment);
  const durations = settings.filter(([, { value }]) => value.kind === "duration");
  return `# Written from the table of settings by: npx vitest run test/repository/terraform.test.ts -u

${settings.map(([name, setting]) => variableOf(name, setting)).join("\n\n")}

locals {
  # As text, with the defaults.
  given = {
${aligned(settings.map(([name, setting]) => [snakeCase(name), givenValue(name, setting)]))}
  }

  # Which durations are allowed, in seconds.
  ranges = {
${aligned(durations.map(([name, { value }]) => [snakeCase(name), rangeOf(value)]))}
  }

  misspelled = compact([
${settings
  .flatMap(([name, setting]) => problemOf(name, setting))
  .map((line) => `    ${line},\n`)
  .join("")}  ])

  window = ${JSON.stringify(settingsTable.holdDuring.value.pattern.source.replaceAll("\\/", "/"))}

  # The functions' environment.
  variables = {
${aligned(variables.map(([name, variable]) => [variable, variableValue(name, table)]))}
  }
}
`;
}

const aligned = (pairs: readonly (readonly [name: string, value: string])[]): string => {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `    ${name.padEnd(width)} = ${value}`).join("\n");
};

/** As Terraform writes names. */
const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Settings by the names of their variables; without a cap is left to the CDK. */
const readable = (meaning: string): string =>
  meaning
    .replace(", `0s` for no cap", "")
    .replaceAll(/`(\w+)(?==|`)/g, (_, name: string) => (name in settingsTable ? snakeCase(name) : name))
    .replaceAll("`", "");

function variableOf(name: string, setting: Setting): string {
  const { value, default: fallback, unset } = setting;
  const usual = unset === "required" ? "" : ` (default: ${fallback ?? unset?.replaceAll("`", "")})`;
  const attributes = [
    `description = ${JSON.stringify(readable(meaningOf(setting)) + usual)}`,
    `type        = ${value.kind === "list" ? "list(string)" : "string"}`,
    unset === "required" ? "nullable    = false" : "default     = null",
  ];
  return `variable "${snakeCase(name)}" {\n${attributes.map((line) => `  ${line}\n`).join("")}}`;
}

function givenValue(name: string, { value, default: fallback = "" }: Setting): string {
  const variable = `var.${snakeCase(name)}`;
  if (value.kind === "list")
    return `${variable} == null ? "" : join("${value.separator ?? ","}", ${variable})`;
  return `${variable} == null ? ${JSON.stringify(fallback)} : ${variable}`;
}

function rangeOf(value: Setting["value"]): string {
  if (value.kind !== "duration") return "";
  const { least, most, zero, or = "" } = value;
  return `{ least = ${least / 1_000}, most = ${most / 1_000}, zero = ${zero !== undefined}, word = "${or}" }`;
}

function problemOf(name: string, setting: Setting): readonly string[] {
  const { value } = setting;
  const given = `local.given.${snakeCase(name)}`;
  // Lists are lists here.
  const expected = expectedOf(setting).replace(/, or 0s for no cap| separated by (?:commas|semicolons)/, "");
  const problem = JSON.stringify(`${snakeCase(name)} must be ${expected}`);
  if (value.kind === "choice")
    return [`contains([${value.choices.map((one) => `"${one}"`).join(", ")}], ${given}) ? "" : ${problem}`];
  if (value.kind === "duration")
    return [`contains(local.out_of_range, "${snakeCase(name)}") ? ${problem} : ""`];
  // Terraform knows no lookahead.
  const pattern = JSON.stringify(value.pattern.source.replace(/^\^\(\?=[^)]*\)/, "^").replaceAll("\\/", "/"));
  const fits = (text: string) => `can(regex(${pattern}, ${text}))`;
  if (value.kind === "list")
    return [
      `alltrue([for one in split("${value.separator ?? ","}", ${given}) : one == "" || ${fits("trimspace(one)")}]) ? "" : ${problem}`,
    ];
  const isLeftOut = setting.unset === "required" ? "" : `${given} == "" || `;
  return [`${isLeftOut}${fits(given)} ? "" : ${problem}`];
}

/** Two depend on others, and what only the construct can set has its default. */
function variableValue(name: string, table: SettingsTable): string {
  const computed: Readonly<Record<string, string>> = {
    hold: 'local.auto ? "auto" : local.constant',
    relaunchCost: 'local.auto ? local.given.relaunch_cost : ""',
    evictionCost: 'local.auto ? local.given.eviction_cost : ""',
    holdAnnotation: "local.annotation",
  };
  const { constructOnly, default: fallback = "" } = table[name] ?? {};
  if (constructOnly) return JSON.stringify(fallback);
  return computed[name] ?? `local.given.${snakeCase(name)}`;
}
