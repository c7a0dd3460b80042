import { anyCluster, type Resource, type TemplateKind } from "../cli/template/fill-in.ts";
import { functionName, parts, ruleName, scheduleGroupName } from "../infra/names.ts";
import { settingsTable } from "../infra/settings/deployment.ts";
import { windowMessage } from "../infra/settings/windows.ts";
import { monitoringVariable, SettingEnvironment } from "../lambda/environment.ts";
import { readSettings } from "../lambda/settings.ts";
import { synthesizeStack } from "./templates.ts";

/*
 * The construct's template as a template of Terraform, which fills in what the command `template` fills in. Places are
 * marked in the objects and become expressions in the text: @@text@@ within a string, ##value## in place of one, a key
 * %%block%% in place of entries, and keys %%if …%% to %%end …%% around what is there under a condition.
 */

const firstWindow = "HolderHoldDuring1";
const { vpc, holdDuring, permissionsBoundaryArn, rolePath, kmsKeyArn } = settingsTable;

/** Conditions, in the language of Terraform. */
const conditions = {
  events: "events",
  topic: 'topic != ""',
  dashboard: 'monitoring == "full"',
  noDashboard: 'monitoring != "full"',
  alarms: 'monitoring != "none"',
  boundary: 'boundary != ""',
  path: 'role_path != ""',
  key: 'key != ""',
  noKey: 'key == ""',
} as const;
type Condition = keyof typeof conditions;

/** The template for any cluster, for functions in a VPC or outside. */
export function terraformTemplate(access: TemplateKind, isInVpc: boolean): string {
  const { template } = synthesizeStack({
    ...{ cluster: anyCluster, holdDuring: holdDuring.value.example, events: "true", alarms: "none", access },
    ...Object.fromEntries(restrictions.map(({ setting, example }) => [setting, example])),
    ...(isInVpc && { vpc: vpc.value.example }),
  });
  const resources: Readonly<Record<string, Resource>> = template.Resources;
  for (const [id, resource] of Object.entries(resources)) markPlaces(id, resource);
  const { true: ofWindow = [], false: others = [] } = Object.groupBy(Object.entries(resources), ([id]) =>
    id.startsWith(firstWindow) ? "true" : "false",
  );
  const windows = textOf(Object.fromEntries(ofWindow)).slice(1, -1).replaceAll(firstWindow, ofEachWindow);
  const { Dashboard, ...Outputs } = template.Outputs;
  const { Mappings, ...rest } = template;
  const text = textOf({
    ...rest,
    Parameters: { Template: { Type: "String", Description: "The hash of this template" } },
    Resources: Object.assign(
      { "%%windows%%": 0 },
      ...others.map(([id, one]) => markWatching({ [id]: one }, one.Type)),
    ),
    Outputs: { ...Outputs, ...onlyIf("dashboard", { Dashboard }) },
    // It leads to the dashboard.
    ...onlyIf("dashboard", { Mappings }),
  });
  return text.replace('"%%windows%%":0,', `%{ for i, window in windows }${windows},%{ endfor }`);
}

/** Settings that the template has with their examples, which are replaced wherever they are. */
const restrictions = [
  { setting: "permissionsBoundaryArn", example: permissionsBoundaryArn.value.example, place: "@@boundary@@" },
  { setting: "rolePath", example: rolePath.value.example, place: "@@role_path@@" },
  { setting: "kmsKeyArn", example: kmsKeyArn.value.example, place: "@@key@@" },
] as const;

/** Entries of an object, but not its first. */
const onlyIf = (condition: Condition, entries: object): object => ({
  [`%%if ${condition} ${Object.keys(entries)}%%`]: 0,
  ...entries,
  [`%%end ${condition} ${Object.keys(entries)}%%`]: 0,
});
/** An item of a list, but not its first. */
const itemIf = (condition: Condition, item: unknown): object => ({
  [`%%if ${condition}%%`]: 0,
  "%%item%%": item,
  "%%end item%%": 0,
});
const either = (condition: Condition, value: unknown, other: unknown): object => ({
  [`%%if ${condition}%%`]: 0,
  "%%value%%": value,
  "%%else%%": other,
  "%%end value%%": 0,
});

/** An expression of Terraform. */
const place = (expression: string): string => `\${${expression}}`;
const ofEachWindow = `HolderHoldDuring${place("i + 1")}`;

function markPlaces(id: string, { Type, Properties }: Resource): void {
  const properties: Record<string, unknown> = Properties;
  const { Environment, PolicyDocument, Target, AlarmName, Code } = Properties;
  if (Environment) Environment.Variables = markVariables(Environment.Variables);
  if (PolicyDocument)
    properties.PolicyDocument = { ...PolicyDocument, Statement: markStatements(PolicyDocument.Statement) };
  markRestrictions(properties);
  if (typeof Code === "string")
    properties.Code = { S3Bucket: "@@bucket@@", S3Key: `@@code.${keyOf(Code)}@@` };
  if (Properties.holdAnnotation) Properties.holdAnnotation = "@@settings.HOLD_ANNOTATION@@";
  if (Properties.mode) Properties.mode = "@@settings.MODE@@";
  if (Properties.auto !== undefined) properties.auto = "##auto##";
  if (Properties.nodeEvents) Properties.nodeEvents = "@@settings.NODE_EVENTS@@";
  if ("VpcConfig" in properties)
    properties.VpcConfig = {
      SubnetIds: "##jsonencode(vpc.subnet_ids)##",
      SecurityGroupIds: "##jsonencode(vpc.security_group_ids)##",
    };
  if (Target) {
    properties.ScheduleExpression = "@@window.schedule@@";
    properties.ScheduleExpressionTimezone = "@@window.time_zone@@";
    const of = { schedule: "@@window.schedule@@", timeZone: "@@window.time_zone@@" };
    Target.Input = windowMessage({ ...of, for: "@@window.length@@", scope: "@@window.scope@@" });
  }
  if (AlarmName) markAlarm(properties, AlarmName);
  // The CDK names a policy after its id.
  if (Type === "AWS::IAM::Policy") Properties.PolicyName = `@@end of ${id}@@`;
}

const markWatching = (resource: object, type: string): object => {
  if (type === "AWS::CloudWatch::Dashboard") return onlyIf("dashboard", resource);
  return type === "AWS::CloudWatch::Alarm" ? onlyIf("alarms", resource) : resource;
};

type Statement = Readonly<{ Action: unknown; Resource?: unknown }>;

const markStatements = (statements: readonly Statement[]): readonly object[] =>
  statements.map((one) => {
    if (one.Action === "events:PutEvents") return itemIf("events", one);
    if (one.Resource === kmsKeyArn.value.example) return itemIf("key", one);
    return { ...one, ...("Resource" in one && { Resource: markPaths(one.Resource) }) };
  });

/** With a path of roles, access entries may have another name, too. */
function markPaths(resource: unknown): unknown {
  if (!Array.isArray(resource)) return resource;
  const isOfPath = (one: unknown) => JSON.stringify(one).includes(rolePath.value.example);
  const others = resource.filter((one) => !isOfPath(one));
  if (others.length === 1 && resource.length > 1) return either("path", resource, others[0]);
  return resource.map((one) => (isOfPath(one) ? itemIf("path", one) : one));
}

/** Moves what a restricted account demands to the end, under its condition. */
function markRestrictions(properties: Record<string, unknown>): void {
  const { PermissionsBoundary, Path, KmsMasterKeyId, KmsKeyId, SSESpecification } = properties;
  const move = (condition: Condition, entries: object) => {
    for (const name of Object.keys(entries)) delete properties[name];
    Object.assign(properties, onlyIf(condition, entries));
  };
  if (PermissionsBoundary) move("boundary", { PermissionsBoundary });
  if (Path) move("path", { Path });
  if (KmsKeyId) move("key", { KmsKeyId });
  if (SSESpecification) move("key", { SSESpecification });
  if (!KmsMasterKeyId) return;
  move("key", { KmsMasterKeyId });
  move("noKey", { SqsManagedSseEnabled: true });
}

/** Functions have all settings, or a few in the place of which each stays. */
function markVariables(variables: Record<string, unknown>): Record<string, unknown> {
  const names: readonly string[] = Object.values(SettingEnvironment);
  const isOfAll = SettingEnvironment.maxHold in variables;
  const own = Object.entries(variables).filter(([name]) => name !== "EVENTS" && !names.includes(name));
  const few = names.filter((name) => name in variables).map((name) => [name, `@@settings.${name}@@`]);
  return {
    ...(isOfAll ? { "%%settings%%": 0 } : Object.fromEntries(few)),
    ...Object.fromEntries(own),
    ...("EVENTS" in variables && onlyIf("events", { EVENTS: "true" })),
    ...(SettingEnvironment.cluster in variables &&
      onlyIf("noDashboard", { [monitoringVariable]: "@@monitoring@@" })),
  };
}

const usual = readSettings({ cluster: anyCluster });

/** Two alarms compare with a setting; the template has them for its default. */
function markAlarm(alarm: Record<string, unknown>, name: string): void {
  const raised = (ending: string, setting: "maxHold" | "initialDelay", seconds: string) => {
    if (name.endsWith(ending))
      alarm.Threshold = `##${Number(alarm.Threshold) - usual[setting]} + 1000 * ${seconds}##`;
  };
  raised("-hold-over-cap", "maxHold", "max_hold");
  raised("-slow-protection", "initialDelay", "initial_delay");
  const topics = ["@@topic@@"];
  Object.assign(alarm, onlyIf("topic", { AlarmActions: topics, OKActions: topics }));
}

const keyOf = (part: string): string => part.replaceAll("-", "_");

/** The text of Terraform's template; what looks like an expression in it stays text. */
function textOf(value: object): string {
  const plain = JSON.stringify(value).replaceAll("${", "$$${").replaceAll("%{", "%%{");
  const named = [
    ...parts.map((part) => [functionName(anyCluster, part), `@@names.${keyOf(part)}@@`] as const),
    [scheduleGroupName(anyCluster), "@@names.schedules@@"] as const,
    [ruleName(anyCluster, "launches"), "@@names.launches@@"] as const,
    [`HolderHolds${anyCluster}`, "HolderHolds@@in_ids@@"] as const,
    [`HolderAccess${anyCluster}`, "HolderAccess@@in_ids@@"] as const,
    [anyCluster, "@@settings.CLUSTER@@"] as const,
    ...restrictions.map(({ example, place }) => [example, place] as const),
  ].reduce((text, [old, place]) => text.replaceAll(old, place), plain);
  return named
    .replaceAll('"%%settings%%":0', place("environment"))
    .replaceAll(/,"%%if (\w+) [^%]+%%":0/g, (_, condition: Condition) => `%{ if ${conditions[condition]} }`)
    .replaceAll(/,\{"%%if (\w+)%%":0,"%%item%%":/g, (_, one: Condition) => `%{ if ${conditions[one]} },`)
    .replaceAll(/\{"%%if (\w+)%%":0,"%%value%%":/g, (_, one: Condition) => `%{ if ${conditions[one]} }`)
    .replaceAll(',"%%else%%":', "%{ else }")
    .replaceAll(/,"%%end (?:item|value)%%":0\}/g, "%{ endif }")
    .replaceAll(/,"%%end \w+ [^%]+%%":0/g, "%{ endif }")
    .replaceAll(/@@end of ((?:[^@]|@@in_ids@@)+)@@/g, place('strrev(substr(strrev("$1"), 0, 128))'))
    .replaceAll(/"##([^#]+)##"/g, place("$1"))
    .replaceAll(/@@([^@]+)@@/g, place("$1"));
}
