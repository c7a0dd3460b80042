import { type Duration, Token } from "aws-cdk-lib";
import type { Setting } from "../../lambda/settings-table.ts";
import { nearestName } from "../../lambda/spelling.ts";
import type { HolderVpcIds, HolderVpcObjects } from "../network.ts";
import type { HolderCluster, KarpenterNodeHolderProps } from "../props.ts";
import { settingsTable } from "./deployment.ts";

const { value: clusterValue } = settingsTable.cluster;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isVpc = (value: unknown): boolean => isObject(value) && "selectSubnets" in value;
const areGroups = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => isObject(one) && "securityGroupId" in one);
const isTexts = (value: unknown): boolean =>
  Token.isUnresolved(value) ||
  (Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string"));

const areKnownTexts = (value: unknown): boolean => isTexts(value) && !Token.isUnresolved(value);

/** Of two forms none takes what only the other has: it would have no effect. */
const hasOnly = (given: Record<string, unknown>, names: readonly string[]): boolean =>
  unknownProps(given, names).length === 0;
const ofIds: (keyof HolderVpcIds)[] = ["subnetIds", "securityGroupIds", "clusterSecurityGroupIds"];
const ofObjects: (keyof HolderVpcObjects)[] = ["vpc", "subnets", "securityGroups", "clusterSecurityGroups"];

const isNetworkOfIds = (vpc: Record<string, unknown>): boolean =>
  hasOnly(vpc, ofIds) &&
  isTexts(vpc.subnetIds) &&
  isTexts(vpc.securityGroupIds) &&
  (vpc.clusterSecurityGroupIds === undefined ||
    [vpc.clusterSecurityGroupIds, vpc.securityGroupIds].every(areKnownTexts));
const isNetworkOfObjects = (vpc: Record<string, unknown>): boolean =>
  hasOnly(vpc, ofObjects) &&
  isVpc(vpc.vpc) &&
  (vpc.clusterSecurityGroups === undefined || areGroups(vpc.clusterSecurityGroups));

/** By what it can do, because an app may have the CDK twice. */
export const isDuration = (value: unknown): value is Duration =>
  isObject(value) && "toMilliseconds" in value && typeof value.toMilliseconds === "function";

const isCluster = (value: unknown): value is HolderCluster =>
  isObject(value) && typeof value.clusterName === "string";

/** The name of the cluster, maybe as a reference, and the text that names the holder's resources where one is known. */
export function namesIn({ cluster, name }: KarpenterNodeHolderProps) {
  const text: unknown = isCluster(cluster) ? cluster.clusterName : cluster;
  const own = isKnown(text) ? text.trim() : text;
  // A cluster that was given its name in the same app has it here as text.
  const given: unknown = isCluster(cluster) ? Reflect.get(cluster, "physicalName") : undefined;
  return { cluster: own, name: name ?? [own, given].find(isKnown) };
}

/** Text that is known at synth. */
export const isKnown = (value: unknown): value is string =>
  typeof value === "string" && !Token.isUnresolved(value);

type Expected = Readonly<{ fits: (value: unknown) => boolean; what: string }>;

/** Props that are no text but objects, and that an app without types can get wrong. */
export const objectProps: Readonly<Record<string, Expected>> = {
  cluster: {
    fits: (value) => typeof value === "string" || isCluster(value),
    what: "text or a cluster of the CDK",
  },
  name: { fits: (value) => clusterValue.pattern.test(String(value)), what: clusterValue.expected },
  vpc: {
    fits: (value) => isObject(value) && (isNetworkOfIds(value) || isNetworkOfObjects(value)),
    what:
      "{ subnetIds: […], securityGroupIds: […], clusterSecurityGroupIds?: […] } with one of each at least " +
      "and no list by reference beside clusterSecurityGroupIds, or " +
      "{ vpc: a VPC of the CDK, subnets?, securityGroups?, clusterSecurityGroups?: security groups of the CDK }",
  },
  alarmTopic: { fits: (value) => isObject(value) && "topicArn" in value, what: "an SNS topic of the CDK" },
};

const settings = Object.entries<Setting>(settingsTable);
const propOfSetting = new Map(settings.map(([name, { prop }]) => [name, prop ?? name]));
const settingOfProp = new Map(settings.map(([name, { prop }]) => [prop ?? name, name]));
const propNames: ReadonlySet<string> = new Set([...settingOfProp.keys(), ...Object.keys(objectProps)]);

/** Names a prop that is none, or that has no such value. */
export function problemOfProp(name: string, value: unknown): string | undefined {
  if (!propNames.has(name)) return unknownName(name, propNames, propOfSetting);
  const expected = objectProps[name];
  if (!expected || expected.fits(value)) return undefined;
  return `${name} must be ${expected.what}, not ${isObject(value) ? "an object" : JSON.stringify(value)}`;
}

/**
 * The CDK ignores unknown context keys, so a misspelled cap would have no effect. The CDK's own keys, and
 * those of other tools, are beside ours, so only keys that resemble ours are refused.
 */
export const misspelledKeys = (given: readonly string[]): string[] =>
  given
    .filter((key) => !propOfSetting.has(key))
    .filter((key) => settingOfProp.has(key) || nearestName(key, [...propOfSetting.keys()]))
    .map((key) => unknownName(key, propOfSetting.keys(), settingOfProp));

/** Names the props that are none of these: an app without types would not notice that they have no effect. */
export const unknownProps = (given: object, names: readonly string[]): string[] =>
  Object.entries(given)
    .filter(([name, value]) => value !== undefined && !names.includes(name))
    .map(([name]) => unknownName(name, names, new Map()));

/** Names what was probably meant. */
function unknownName(given: string, names: Iterable<string>, others: ReadonlyMap<string, string>): string {
  const meant = others.get(given) ?? nearestName(given, [...names]);
  return `${given} is no setting${meant ? `: did you mean ${meant}?` : ""}`;
}
