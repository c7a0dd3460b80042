import { formatDuration, minutes, parseDuration } from "./core/duration.ts";
import { BadInputError } from "./core/errors.ts";
import { Karpenter } from "./core/marks/keys.ts";
import type { Rules } from "./core/rules.ts";
import { holderSettings, type Setting, type SettingsTable, type Values } from "./settings-table.ts";

export type SettingName = keyof typeof holderSettings;
export const settingNames = Object.keys(holderSettings) as readonly SettingName[];

/** Settings as text, the way context, environment and flags bring them. */
export type RawSettings = Readonly<Partial<Record<SettingName, unknown>>>;

/** The settings, read and checked; the same for every source. */
export type Settings = Omit<Values<typeof holderSettings>, "hold" | "nodePools" | "nodeEvents"> &
  Pick<Rules, "hold" | "auto" | "nodePools"> &
  Readonly<{ nodeEvents: boolean }>;

/** With `hold=auto`, how long a launch holds where pods may not be listed, or where there are no NodeClaims. */
const withoutPods = minutes(20);

/** Reads all settings and reports every problem at once; those left out have their defaults. */
export function checkSettings(raw: RawSettings): { settings: Settings; problems: readonly string[] } {
  const { values, problems } = readValues(holderSettings, raw);
  const { hold: length, nodePools, ...others } = values;
  const { maxHold, initialDelay, karpenter } = others;
  // Room for pods is known from NodeClaims, which Karpenter before v0.32 does not have.
  const auto = length === "auto" && karpenter === "v1";
  const hold = length === "auto" ? Math.min(withoutPods, maxHold || withoutPods) : length;
  const refuse = (name: "maxHold" | "initialDelay", expected: string) =>
    problems.push(`${name} must be ${expected}, not "${formatDuration(values[name])}"`);
  if (auto && maxHold === 0) refuse("maxHold", "a time with hold=auto");
  for (const name of ["relaunchCost", "evictionCost"] as const)
    if (raw[name] && !auto) problems.push(`${name} has an effect with hold=auto only`);
  if (maxHold > 0 && maxHold < hold) refuse("maxHold", `at least hold (${formatDuration(hold)}), or 0s`);
  const both = nodePools.filter((name) => nodePools.includes(`!${name}`));
  for (const name of both) problems.push(`nodePools names ${name} and leaves it out`);
  if (initialDelay >= hold) refuse("initialDelay", `shorter than hold (${formatDuration(hold)})`);
  const settings: Settings = {
    ...others,
    hold,
    auto,
    nodePools: {
      only: nodePools.filter((name) => !name.startsWith("!")),
      except: nodePools.filter((name) => name.startsWith("!")).map((name) => name.slice(1)),
    },
    holdAnnotation: others.holdAnnotation || Karpenter[karpenter].annotation,
    nodeEvents: others.nodeEvents === "true",
  };
  return { settings, problems };
}

/** Reads all settings or throws one error that names every problem. */
export function readSettings(raw: RawSettings): Settings {
  const { settings, problems } = checkSettings(raw);
  if (problems.length > 0) throw new BadInputError("These settings cannot be used", problems);
  return settings;
}

/** Reads the settings of a table by their kind, and reports every problem. */
export function readValues<Table extends SettingsTable>(
  table: Table,
  raw: Readonly<Record<string, unknown>>,
): { values: Values<Table>; problems: string[] } {
  const problems: string[] = [];
  const values = Object.entries(table).map(([name, setting]) => {
    const given = raw[name] ?? "";
    const text = isText(given) ? textOf(setting, given).trim() : undefined;
    const value = text === undefined ? undefined : readValue(setting, text || setting.default || "");
    const isMissing = text === "" && setting.unset === "required";
    const shown = text === undefined ? "an object" : JSON.stringify(text);
    if (isMissing) problems.push(`${name} is missing: give ${expectedOf(setting)}`);
    else if (value === undefined) problems.push(`${name} must be ${expectedOf(setting)}, not ${shown}`);
    // What depends on an unreadable setting is checked against its default, so that all problems are reported at once.
    return [name, value ?? readValue(setting, setting.default ?? "")];
  });
  // Each value has the type of its kind.
  return { values: Object.fromEntries(values) as Values<Table>, problems };
}

const isText = (value: unknown): boolean =>
  Array.isArray(value) ? value.every((item) => typeof item === "string") : typeof value !== "object";

const textOf = ({ value }: Setting, given: unknown): string =>
  Array.isArray(given) ? given.join(separatorOf(value)) : String(given);

/** What separates the items of a list. */
export const separatorOf = (value: Setting["value"]): string =>
  (value.kind === "list" && value.separator) || ",";

/** The value that a text stands for; undefined when it does not fit. */
function readValue({ value }: Setting, text: string): unknown {
  switch (value.kind) {
    case "duration": {
      if (text === value.or) return text;
      const read = parseDuration(text);
      if (read === undefined || (value.zero && read === 0)) return read;
      const isWhole = value.whole === undefined || read % minutes(1) === 0;
      return read >= value.least && read <= value.most && isWhole ? read : undefined;
    }
    case "choice":
      return value.choices.find((choice) => choice === text);
    case "text":
      return text === "" || value.pattern.test(text) ? text : undefined;
    case "list": {
      const items = text.split(separatorOf(value)).map((item) => item.trim());
      const given = items.filter(Boolean);
      return given.every((item) => value.pattern.test(item)) ? given : undefined;
    }
  }
}

/** What a setting must be, in words. */
export function expectedOf({ value }: Setting): string {
  if (value.kind === "choice") return value.choices.join(" or ");
  if (value.kind !== "duration") return `${value.expected}, like ${value.example}`;
  const range = `from ${formatDuration(value.least)} to ${formatDuration(value.most)}`;
  const zero = value.zero ? `, or 0s ${value.zero}` : "";
  const like = value.whole ? " in whole minutes, like 20m or 1h" : ", like 90s, 20m, 2h or 1d";
  return `${value.or ? `${value.or}, or ` : ""}a duration ${range}${zero}${like}`;
}
