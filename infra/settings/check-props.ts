import { type Duration, Token } from "aws-cdk-lib";
import { RetentionDays } from "aws-cdk-lib/aws-logs";
import { nearestName } from "../../lambda/spelling.ts";
import type { KarpenterNodeHolderProps } from "../props.ts";

type Check = (value: unknown) => boolean;
type Expected = Readonly<{ fits: Check; what: string }>;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isVpc: Check = (value) => isObject(value) && "selectSubnets" in value;
const isTexts: Check = (value) =>
  Token.isUnresolved(value) || (Array.isArray(value) && value.every((item) => typeof item === "string"));

/** By what it can do, because an app may have the CDK twice. */
export const isDuration = (value: unknown): value is Duration =>
  isObject(value) && "toMilliseconds" in value && typeof value.toMilliseconds === "function";

const aDuration: Expected = { fits: isDuration, what: "a Duration, like Duration.minutes(30)" };
/** Read as text, and checked with the settings of every other way to bring them. */
const aSetting: Expected = { fits: () => true, what: "" };

const expected: Record<keyof KarpenterNodeHolderProps, Expected> = {
  cluster: aSetting,
  hold: {
    fits: (value) => value === "auto" || isDuration(value),
    what: '"auto", or a Duration, like Duration.minutes(30)',
  },
  relaunchCost: aDuration,
  maxHold: aDuration,
  breather: aDuration,
  initialDelay: aDuration,
  sweepEvery: aDuration,
  scope: aSetting,
  nodePools: aSetting,
  replacements: aSetting,
  extendOn: aSetting,
  karpenter: aSetting,
  holdAnnotation: aSetting,
  access: { fits: (value) => value === "install" || value === "manual", what: "install or manual" },
  vpc: {
    fits: (value) =>
      isObject(value) && ((isTexts(value.subnetIds) && isTexts(value.securityGroupIds)) || isVpc(value.vpc)),
    what: "{ subnetIds: […], securityGroupIds: […] } or { vpc: a VPC of the CDK }",
  },
  runbookUrl: {
    fits: (value) => typeof value === "string" && /^https?:/.test(value),
    what: "an address like https://wiki.example.com/runbook",
  },
  alarmTopic: { fits: (value) => isObject(value) && "topicArn" in value, what: "an SNS topic of the CDK" },
  logRetention: {
    fits: (value) => typeof value === "number" && value in RetentionDays,
    what: "one of the CDK's RetentionDays",
  },
  reserveConcurrency: { fits: (value) => typeof value === "boolean", what: "true or false" },
};

/** The names of the app's settings that the construct knows under another one. */
export const propOfSetting: Readonly<Record<string, keyof KarpenterNodeHolderProps>> = {
  alarmTopicArn: "alarmTopic",
  logRetentionDays: "logRetention",
};

/** What an app without types can get wrong, by the name of the prop: the compiler reports all others. */
export function problemsOf(props: KarpenterNodeHolderProps): ReadonlyMap<string, string> {
  const problems = Object.entries(props).flatMap(([name, value]): [string, string][] => {
    const known = Object.entries(expected).find(([one]) => one === name)?.[1];
    if (!known) return [[name, unknownName(name, Object.keys(expected), propOfSetting)]];
    if (value === undefined || value === null || known.fits(value)) return [];
    return [[name, `${name} must be ${known.what}, not ${shown(value)}`]];
  });
  return new Map(problems);
}

/** Names what was probably meant. */
export function unknownName(
  given: string,
  names: readonly string[],
  others: Readonly<Record<string, string>>,
): string {
  const meant = others[given] ?? nearestName(given, names);
  return `${given} is no setting${meant ? `: did you mean ${meant}?` : ""}`;
}

// A construct has no short form of its own.
const shown = (value: unknown): string => (isObject(value) ? "an object" : JSON.stringify(value));
