import { Duration } from "aws-cdk-lib";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { checkSettings, defaultSettings, type Settings } from "../../lambda/settings.ts";
import { nearestName } from "../../lambda/spelling.ts";
import type { HolderVpcIds } from "../network.ts";
import type { Access, KarpenterNodeHolderProps } from "../props.ts";
import { propOfSetting, unknownName } from "./check-props.ts";
import { unusable } from "./plan.ts";

/** The settings of `cdk deploy -c name=value`. */
export type ContextSettings = Readonly<{
  props: Omit<KarpenterNodeHolderProps, "alarmTopic">;
  alarmTopicArn: string | undefined;
}>;

const rules = ["cluster", ...Object.keys(defaultSettings)];
/** Every key that the app reads. */
export const settingNames: readonly string[] = [
  ...rules,
  "access",
  "vpc",
  "alarmTopicArn",
  "logRetentionDays",
  "runbookUrl",
  "reserveConcurrency",
];

/** Reads the settings of the repository's own app; one error names every problem. */
export function readContext(context: Readonly<Record<string, unknown>>): ContextSettings {
  const raw = Object.fromEntries(rules.map((name) => [name, context[name]]));
  const { settings, problems } = checkSettings(raw);
  const found = [...problems, ...misspelled(Object.keys(context))];
  const read = <T>(name: string, parse: (text: string) => T | undefined, expected: string): T | undefined => {
    const text = String(context[name] ?? "").trim();
    if (text === "") return undefined;
    const value = parse(text);
    if (value === undefined) found.push(`${name} must be ${expected}, not "${text}"`);
    return value;
  };

  const access = read("access", parseAccess, "install or manual");
  const vpc = read("vpc", parseVpc, "subnets and security groups, like subnet-1a2b3c4d,sg-5e6f7a8b");
  const alarmTopicArn = read("alarmTopicArn", parseTopic, "the ARN of an SNS topic");
  const logRetention = read("logRetentionDays", parseRetention, `one of ${retentions.join(", ")}`);
  const runbookUrl = read("runbookUrl", parseUrl, "an address like https://wiki.example.com/runbook");
  const reserveConcurrency = read("reserveConcurrency", parseBoolean, "true or false");
  if (found.length > 0) throw unusable(found);
  return {
    props: {
      ...asProps(settings),
      ...(access && { access }),
      ...(vpc && { vpc }),
      ...(logRetention && { logRetention }),
      ...(runbookUrl && { runbookUrl }),
      ...(reserveConcurrency !== undefined && { reserveConcurrency }),
    },
    alarmTopicArn,
  };
}

/**
 * The CDK ignores unknown context keys, so a misspelled cap would have no effect. The CDK's own keys, and
 * those of other tools, are beside ours, so only keys that resemble ours are refused.
 */
const misspelled = (given: readonly string[]): string[] =>
  given
    .filter((key) => !settingNames.includes(key))
    .filter((key) => key in settingOfProp || nearestName(key, settingNames))
    .map((key) => unknownName(key, settingNames, settingOfProp));

const settingOfProp: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(propOfSetting).map(([setting, prop]) => [prop, setting]),
);

const asProps = (settings: Settings) => ({
  cluster: settings.cluster,
  hold: settings.auto ? ("auto" as const) : Duration.millis(settings.hold),
  ...(settings.auto && { relaunchCost: Duration.millis(settings.auto.relaunchCost) }),
  maxHold: Duration.millis(settings.maxHold),
  breather: Duration.millis(settings.breather),
  initialDelay: Duration.millis(settings.initialDelay),
  scope: settings.scope,
  nodePools: [...settings.nodePools.only, ...settings.nodePools.except.map((name) => `!${name}`)],
  replacements: settings.replacements,
  extendOn: settings.extendOn,
  karpenter: settings.karpenter,
  holdAnnotation: settings.holdAnnotation,
  sweepEvery: Duration.millis(settings.sweepEvery),
});

const retentions = Object.values(RetentionDays)
  .filter((days) => typeof days === "number")
  .filter((days) => days !== RetentionDays.INFINITE);

const parseRetention = (text: string): RetentionDays | undefined =>
  retentions.find((days) => String(days) === text);

const parseAccess = (text: string): Access | undefined =>
  text === "install" || text === "manual" ? text : undefined;

const parseBoolean = (text: string): boolean | undefined =>
  text === "true" || text === "false" ? text === "true" : undefined;

const parseUrl = (text: string): string | undefined =>
  URL.canParse(text) && /^https?:/.test(text) ? text : undefined;

const parseTopic = (text: string): string | undefined =>
  /^arn:[\w-]+:sns:[\w-]+:\d{12}:[\w.-]+$/.test(text) ? text : undefined;

function parseVpc(text: string): HolderVpcIds | undefined {
  const ids = text.split(",").map((id) => id.trim());
  const subnetIds = ids.filter((id) => /^subnet-([0-9a-f]{8}|[0-9a-f]{17})$/.test(id));
  const securityGroupIds = ids.filter((id) => /^sg-([0-9a-f]{8}|[0-9a-f]{17})$/.test(id));
  const whole = subnetIds.length > 0 && securityGroupIds.length > 0;
  return whole && subnetIds.length + securityGroupIds.length === ids.length
    ? { subnetIds, securityGroupIds }
    : undefined;
}
