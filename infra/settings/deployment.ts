import { formatDuration } from "../../lambda/core/duration.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import { SettingEnvironment } from "../../lambda/environment.ts";
import {
  checkSettings,
  readValues,
  type SettingName,
  type Settings,
  settingNames,
} from "../../lambda/settings.ts";
import { holderSettings, type Setting, type SettingsTable } from "../../lambda/settings-table.ts";
import { nameOfWindow, problemsOfWindow, readWindow, windowPattern } from "./windows.ts";

/** What only a deployment reads. */
export const deploymentSettings = {
  holdDuring: {
    value: {
      kind: "list",
      separator: ";",
      pattern: windowPattern,
      expected: "windows separated by semicolons, each a schedule, a time zone, a length and a scope",
      example: "cron(0 8 ? * MON-FRI *) Europe/Berlin 2h",
    },
    unset: "none",
    help: "windows in which nodes are held, like `cron(0 8 ? * MON-FRI *) Europe/Berlin 2h`",
  },
  events: {
    value: { kind: "choice", choices: ["false", "true"] },
    default: "false",
    help: "`true`: send an event to the default event bus when a hold starts, is extended, reaches its cap or ends",
  },
  access: {
    value: { kind: "choice", choices: ["install", "manual"] },
    default: "install",
    help: "`install` or `manual`: who installs the rights in the cluster",
  },
  vpc: {
    value: {
      kind: "text",
      pattern: /^(?=.*subnet-)(?=.*sg-)((subnet|sg)-([0-9a-f]{8}|[0-9a-f]{17})(, *|$))+$/,
      expected: "subnets and security groups",
      example: "subnet-0123456789abcdef0,sg-0123456789abcdef0",
    },
    unset: "none",
    constructOnly: true,
    help: "subnets and security groups, for clusters with a private endpoint",
  },
  alarmTopicArn: {
    value: {
      kind: "text",
      pattern: /^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w.-]+$/,
      expected: "the ARN of an SNS topic",
      example: "arn:aws:sns:us-east-1:111122223333:ops",
    },
    unset: "none",
    prop: "alarmTopic",
    help: "SNS topic that receives every alarm",
  },
  alarms: {
    value: { kind: "choice", choices: ["notify", "none"] },
    default: "notify",
    help: "`notify`: every alarm needs an action, like a topic; `none`: alarms notify no one",
  },
  monitoring: {
    value: { kind: "choice", choices: ["full", "alarms", "none"] },
    default: "full",
    help: "`full`; `alarms`: no dashboard, and the metrics of alarms alone; `none`: logs alone",
  },
  permissionsBoundaryArn: {
    value: {
      kind: "text",
      pattern: /^arn:[\w-]+:iam::(\d{12}|aws):policy\/[\w+=,.@/-]+$/,
      expected: "the ARN of an IAM policy",
      example: "arn:aws:iam::111122223333:policy/boundary",
    },
    unset: "none",
    help: "permissions boundary of every role",
  },
  rolePath: {
    value: {
      kind: "text",
      pattern: /^\/([\w+=,.@-]+\/)+$/,
      expected: "a path that begins and ends in a slash",
      example: "/platform/",
    },
    unset: "none",
    help: "path of every role",
  },
  kmsKeyArn: {
    value: {
      kind: "text",
      pattern: /^arn:[\w-]+:kms:[\w-]+:\d{12}:key\/[\w-]+$/,
      expected: "the ARN of a KMS key",
      example: "arn:aws:kms:us-east-1:111122223333:key/0123abcd-0123-0123-0123-0123456789ab",
    },
    unset: "AWS's own",
    help: "KMS key of table, queues and logs",
  },
  runbookUrl: {
    value: {
      kind: "text",
      pattern: /^https?:\/\/[^\s"]+$/,
      expected: "an address",
      example: "https://wiki.example.com/runbook",
    },
    unset: "none",
    constructOnly: true,
    help: "where your people read the runbook; alarms link to it",
  },
  logRetentionDays: {
    value: {
      kind: "text",
      pattern: /^(1|3|5|7|14|30|60|90|120|150|180|365|400|545|731|1096|1827|2192|2557|2922|3288|3653|9999)$/,
      expected: "a number of days that CloudWatch knows",
      example: "90",
    },
    default: "30",
    constructOnly: true,
    help: "how long CloudWatch keeps logs; `9999` for ever",
  },
  reserveConcurrency: {
    value: { kind: "choice", choices: ["false", "true"] },
    default: "false",
    constructOnly: true,
    help: "`true`: reserve one concurrent execution, so that two sweeps never run at once",
  },
} as const satisfies SettingsTable;

/** What `run` reads: it has no EventBridge Scheduler to begin windows. */
export const runSettings = { ...holderSettings, holdDuring: deploymentSettings.holdDuring };

/** Every setting. */
export const settingsTable = { ...holderSettings, ...deploymentSettings };

/** Reads all settings of a deployment, and reports every problem. */
export function checkDeployment(raw: Readonly<Record<string, unknown>>) {
  const { settings, problems } = checkSettings(raw);
  const { values: deployment, problems: others } = readValues(deploymentSettings, raw);
  const windows = deployment.holdDuring.map(readWindow);
  const misfits = windows.flatMap((window) => problemsOfWindow(window, settings));
  // Requests of one name and scope are one: the window that comes second would be taken for a duplicate.
  const names = windows.map((window) => `${nameOfWindow(window)} ${window.scope ?? wholeCluster}`);
  if (new Set(names).size < names.length)
    misfits.push("two windows have the same schedule, time zone and scope");
  const ofWindows = misfits.map((problem) => `holdDuring: ${problem}`);
  if (raw.alarmTopicArn && deployment.monitoring === "none")
    others.push("alarmTopicArn has no effect with monitoring=none");
  const size = Object.values(writeSettings(settings)).join("").length;
  if (size > longestEnvironment)
    others.push(
      `the settings are too long for the environment of a function: ${size} of ${longestEnvironment} letters`,
    );
  return { settings, deployment, windows, problems: [...problems, ...others, ...ofWindows] };
}

/** The values of all settings. Lambda takes 4 KB, names and the holder's own ARNs included. */
const longestEnvironment = 2_400;

type Written = Readonly<Record<string, unknown>> & Pick<Partial<Settings>, "auto" | "nodePools">;

/** Settings as text again; "" where there is none. */
export function writeSettings({ auto, nodePools, ...settings }: Written): Record<SettingName, string> {
  const { only = [], except = [] } = nodePools ?? {};
  const values: Readonly<Record<string, unknown>> = {
    ...settings,
    ...(auto ? { hold: "auto" } : { relaunchCost: "", evictionCost: "" }),
    nodePools: [...only, ...except.map((name) => `!${name}`)],
  };
  const entries = settingNames.map((name) => {
    const value = values[name] ?? "";
    return [name, typeof value === "number" ? formatDuration(value) : String(value)];
  });
  return Object.fromEntries(entries) as Record<SettingName, string>;
}

/** The settings as environment variables. Lambda accepts no empty values; a missing one is read as its default. */
export function settingsEnvironment(settings: Settings): Readonly<Record<string, string>> {
  const values = writeSettings(settings);
  const given = settingNames.filter((name) => values[name] !== "");
  return Object.fromEntries(given.map((name) => [SettingEnvironment[name], values[name]]));
}

/** What a setting means, with its limits. */
export function meaningOf({ help, value }: Setting): string {
  if (value.kind !== "duration") return help;
  const [least, most] = [value.least, value.most].map(formatDuration);
  return `${help} (${value.least > 0 ? `${least} ` : ""}to ${most})`;
}
