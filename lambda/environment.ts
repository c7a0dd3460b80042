import { BadInputError } from "./core/errors.ts";
import { checkSettings, type SettingName, type Settings } from "./settings.ts";

/** What a function is reported by its environment, beside the settings. */
export const Environment = {
  holdTable: "HOLD_TABLE",
  launchQueueUrl: "LAUNCH_QUEUE_URL",
  scheduleGroup: "SCHEDULE_GROUP",
  scheduleRoleArn: "SCHEDULE_ROLE_ARN",
  releaseFunctionArn: "RELEASE_FUNCTION_ARN",
} as const;

/** "true" for a function in a VPC; only the one that installs the access reads it. */
export const vpcVariable = "IN_VPC";

/** Each setting's name in the environment. */
export const SettingEnvironment = {
  cluster: "CLUSTER_NAME",
  hold: "HOLD",
  relaunchCost: "RELAUNCH_COST",
  maxHold: "MAX_HOLD",
  breather: "BREATHER",
  initialDelay: "INITIAL_DELAY",
  scope: "SCOPE",
  nodePools: "NODE_POOLS",
  replacements: "REPLACEMENTS",
  extendOn: "EXTEND_ON",
  karpenter: "KARPENTER",
  holdAnnotation: "HOLD_ANNOTATION",
  sweepEvery: "SWEEP_EVERY",
} as const satisfies Record<SettingName, string>;

export type Config = Readonly<Record<keyof typeof Environment, string>> &
  Readonly<{ settings: Settings; region: string }>;

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
  const raw = Object.fromEntries(Object.entries(SettingEnvironment).map(([name, key]) => [name, env[key]]));
  const { settings, problems: settingProblems } = checkSettings(raw);
  problems.push(...settingProblems);
  if (problems.length > 0) throw new BadInputError("Cannot start", problems);
  return { ...config, settings };
}
