import { type Command, Option } from "commander";
import { BadInputError } from "../../lambda/core/errors.ts";
import {
  checkSettings,
  defaultSettings,
  type RawSettings,
  type SettingName,
  type Settings,
} from "../../lambda/settings.ts";

/** How a setting is written on the command line. */
type Flag = Readonly<{ flags: string; description: string }>;

const settingFlags = {
  cluster: { flags: "--cluster <name>", description: "the cluster's name" },
  hold: { flags: "--hold <duration>", description: "protection after each launch, 1m to 24h, or auto" },
  relaunchCost: {
    flags: "--relaunch-cost <duration>",
    description: "with --hold auto, what a needless relaunch is worth in time of a node",
  },
  maxHold: {
    flags: "--max-hold <duration>",
    description: "a hold never lasts longer, to 168h; 0s for no cap",
  },
  breather: {
    flags: "--breather <duration>",
    description: "after a capped hold, none begins for so long, to 24h",
  },
  initialDelay: {
    flags: "--initial-delay <duration>",
    description: "wait before acting on a launch, to 15m",
  },
  scope: {
    flags: "--scope <scope>",
    description: "cluster: one hold for all; nodepool: a launch protects its own NodePool",
  },
  nodePools: { flags: "--node-pools <names>", description: "NodePools to include, or !name to leave out" },
  replacements: {
    flags: "--replacements <ignore|hold>",
    description: "whether launches that replace other nodes hold, too",
  },
  extendOn: {
    flags: "--extend-on <use|launches>",
    description: "use: a hold goes on while the nodes launched for it are used",
  },
  karpenter: { flags: "--karpenter <generation>", description: "v1 (v0.32 and later) or v0.31" },
  holdAnnotation: { flags: "--hold-annotation <key>", description: "annotation that stops Karpenter" },
  sweepEvery: {
    flags: "--sweep-every <duration>",
    description: "how often everything is compared, 1m to 1h",
  },
} as const satisfies Record<SettingName, Flag>;

/** Whether an option is the flag of a setting. */
export const isSetting = (name: string): boolean => name in settingFlags;

/** Every setting of `run`. */
export const runSettings = ["cluster", ...Object.keys(defaultSettings)] as readonly SettingName[];
/** Where its defaults are not a deployment's. */
export const runDefaults = { sweepEvery: "1m" } as const;

/** Adds a flag for each of these settings; the defaults are a deployment's unless given. */
export function withSettings(
  command: Command,
  names: readonly SettingName[],
  defaults: Readonly<Partial<Record<SettingName, string>>> = {},
): Command {
  const known: Readonly<Partial<Record<SettingName, string>>> = { ...defaultSettings, ...defaults };
  for (const name of names) {
    const { flags, description } = settingFlags[name];
    const fallback = known[name];
    const help = fallback ? `${description} (default: ${fallback})` : description;
    command.addOption(new Option(flags, help));
  }
  return command;
}

/** Reads the settings among the given options; problems name the flag. */
export function settingsFrom(
  options: Readonly<Record<string, unknown>>,
  defaults: RawSettings = {},
): Settings {
  const given = Object.entries(options).filter(([name, value]) => isSetting(name) && value !== undefined);
  const { settings, problems } = checkSettings({ ...defaults, ...Object.fromEntries(given) });
  if (problems.length === 0) return settings;
  throw new BadInputError(
    "These settings cannot be used",
    problems.map((problem) => problem.replace(/^\w+/, flagOf)),
  );
}

const flagOf = (word: string): string => {
  const flag = Object.entries(settingFlags).find(([name]) => name === word)?.[1];
  return flag?.flags.split(" ")[0] ?? word;
};
