import { BadInputError } from "./core/errors.ts";
import { checkSettings, type SettingName, type Settings, settingNames } from "./settings.ts";

/** The environment variables that a function needs beside those of the settings. */
export const Environment = {
  holdTable: "HOLD_TABLE",
  launchQueueUrl: "LAUNCH_QUEUE_URL",
  scheduleGroup: "SCHEDULE_GROUP",
  scheduleRoleArn: "SCHEDULE_ROLE_ARN",
  releaseFunctionArn: "RELEASE_FUNCTION_ARN",
} as const;

/** One-shots invoke the release function by this alias alone; what comes through it cannot force a release. */
export const scheduleAlias = "schedule";

/** "true" where events about holds are sent. */
export const eventsVariable = "EVENTS";

/** The setting monitoring, where it is not "full". */
export const monitoringVariable = "MONITORING";

/** "true" for a function in a VPC; only the one that installs the access reads it. */
export const vpcVariable = "IN_VPC";

/** The environment variable of a setting: MAX_HOLD for maxHold. */
type Variable<Name extends string> = Name extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Uppercase<Letter> ? `_${Letter}` : Uppercase<Letter>}${Variable<Rest>}`
  : "";

/** The environment variable of each setting. */
export const SettingEnvironment = Object.fromEntries(
  settingNames.map((name) => [name, name.replaceAll(/[A-Z]/g, "_$&").toUpperCase()]),
) as { readonly [Name in SettingName]: Variable<Name> };

export type Config = Readonly<Record<keyof typeof Environment, string>> &
  Readonly<{
    settings: Settings;
    region: string;
    events: boolean;
    monitoring: string | undefined;
    /** The address of AWS, where the environment names another; the SDK's clients read it themselves. */
    endpoint: string | undefined;
  }>;

/** Reads everything once, at cold start; one error names all that is missing or wrong. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const problems: string[] = [];
  const required = (name: string): string => {
    const value = env[name]?.trim() ?? "";
    if (value === "") problems.push(`${name} is missing`);
    return value;
  };
  const config = {
    holdTable: required(Environment.holdTable),
    launchQueueUrl: required(Environment.launchQueueUrl),
    scheduleGroup: required(Environment.scheduleGroup),
    scheduleRoleArn: required(Environment.scheduleRoleArn),
    releaseFunctionArn: required(Environment.releaseFunctionArn),
    region: required("AWS_REGION"),
  };
  const raw = Object.fromEntries(settingNames.map((name) => [name, env[SettingEnvironment[name]]]));
  const { settings, problems: settingProblems } = checkSettings(raw);
  problems.push(...settingProblems);
  if (problems.length > 0) throw new BadInputError("Cannot start", problems);
  const { [eventsVariable]: events, [monitoringVariable]: monitoring, AWS_ENDPOINT_URL: endpoint } = env;
  return { ...config, settings, events: events === "true", monitoring, endpoint };
}
