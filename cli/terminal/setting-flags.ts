import { type Command, Option } from "commander";
import { checkDeployment, meaningOf, settingsTable } from "../../infra/settings/deployment.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { separatorOf } from "../../lambda/settings.ts";
import { holderSettings, type Setting, type SettingsTable } from "../../lambda/settings-table.ts";

/** Whether an option is the flag of a setting. */
const isSetting = (name: string): boolean => name in settingsTable;

/** --max-hold for maxHold. */
export const flagOf = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** Where the defaults of `run` are not a deployment's. */
export const runDefaults: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries<Setting>(holderSettings).flatMap(([name, { runDefault }]) =>
    runDefault ? [[name, runDefault]] : [],
  ),
);

/** Adds a flag for each of these settings; the defaults are a deployment's unless given. */
export function withSettings(
  command: Command,
  table: SettingsTable,
  defaults: Readonly<Record<string, string>> = {},
): Command {
  for (const [name, setting] of Object.entries(table)) {
    const fallback = defaults[name] ?? setting.default;
    const help = meaningOf(setting).replaceAll("`", "") + (fallback ? ` (default: ${fallback})` : "");
    const option = new Option(`${flagOf(name)} <${placeholderOf(setting)}>`, help);
    // A flag that is given again adds to a list, as in other tools.
    if (setting.value.kind === "list")
      option.argParser((text, before?: string) =>
        [before ?? [], text].flat().join(separatorOf(setting.value)),
      );
    command.addOption(option);
  }
  return command;
}

const placeholderOf = ({ value }: Setting): string =>
  value.kind === "choice" ? value.choices.join("|") : value.kind;

/** Reads the settings among the given options; problems name the flag. */
export function settingsFrom(
  options: Readonly<Record<string, unknown>>,
  defaults: Readonly<Record<string, string>> = {},
) {
  const given = Object.entries(options).filter(([name, value]) => isSetting(name) && value !== undefined);
  const raw = { ...defaults, ...Object.fromEntries(given) };
  const { problems, ...read } = checkDeployment(raw);
  if (problems.length === 0) return read;
  throw new BadInputError(
    "These settings cannot be used",
    problems.map((problem) => problem.replace(/^\w+/, (word) => (isSetting(word) ? flagOf(word) : word))),
  );
}
