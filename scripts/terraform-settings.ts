import { flagOf } from "../cli/terminal/setting-flags.ts";
import { meaningOf, type Setting, type SettingsTable, settingsTable } from "../lambda/settings-table.ts";

/** The settings that a ready-made template has, as variables of the Terraform module and as the flags they become. */
export function terraformSettings(table: SettingsTable = settingsTable): string {
  const settings = Object.entries(table).filter(([, { constructOnly }]) => !constructOnly);
  const flags = settings.map(([name, setting]) => [`"${flagOf(name)}"`, flagValue(name, setting)] as const);
  const width = Math.max(...flags.map(([flag]) => flag.length));
  return `# Written from the table of settings by: npx vitest run test/repository/terraform.test.ts -u

${settings.map(([name, setting]) => variableOf(name, setting)).join("\n\n")}

locals {
  settings = {
${flags.map(([flag, value]) => `    ${flag.padEnd(width)} = ${value}`).join("\n")}
  }
}
`;
}

/** As Terraform writes names. */
const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function variableOf(name: string, setting: Setting): string {
  const { value, default: fallback, unset } = setting;
  const usual = unset === "required" ? "" : ` (default: ${fallback ?? unset?.replaceAll("`", "")})`;
  const attributes = [
    `description = ${JSON.stringify(meaningOf(setting).replaceAll("`", "") + usual)}`,
    `type        = ${value.kind === "list" ? "list(string)" : "string"}`,
    unset === "required" ? "nullable    = false" : "default     = null",
  ];
  return `variable "${snakeCase(name)}" {\n${attributes.map((line) => `  ${line}\n`).join("")}}`;
}

function flagValue(name: string, { value }: Setting): string {
  const variable = `var.${snakeCase(name)}`;
  if (value.kind !== "list") return variable;
  return `${variable} == null ? null : join("${value.separator ?? ","}", ${variable})`;
}
