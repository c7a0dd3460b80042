import { anyCluster, type Resource, type TemplateKind } from "../cli/template/fill-in.ts";
import { SettingEnvironment } from "../lambda/environment.ts";
import { functionName, parts, ruleName, scheduleGroupName } from "../lambda/names.ts";
import { readSettings } from "../lambda/settings.ts";
import { settingsTable } from "../lambda/settings-table.ts";
import { windowMessage } from "../lambda/triggers.ts";
import { synthesizeStack } from "./templates.ts";

/*
 * The construct's template as a template of Terraform, which fills in what the command `template` fills in. Places are
 * marked in the objects and become expressions in the text: @@text@@ within a string, ##value## in place of one, and a
 * key %%block%% in place of entries.
 */

const firstWindow = "HolderHoldDuring1";
const { vpc, holdDuring } = settingsTable;

/** The template for any cluster, for functions in a VPC or outside. */
export function terraformTemplate(access: TemplateKind, isInVpc: boolean): string {
  const { template } = synthesizeStack({
    ...{ cluster: anyCluster, holdDuring: holdDuring.value.example, events: "true", alarms: "none", access },
    ...(isInVpc && { vpc: vpc.value.example }),
  });
  const resources: Readonly<Record<string, Resource>> = template.Resources;
  for (const [id, resource] of Object.entries(resources)) markPlaces(id, resource);
  const { true: ofWindow = [], false: others = [] } = Object.groupBy(Object.entries(resources), ([id]) =>
    id.startsWith(firstWindow) ? "true" : "false",
  );
  const windows = textOf(Object.fromEntries(ofWindow)).slice(1, -1).replaceAll(firstWindow, ofEachWindow);
  const text = textOf({ ...template, Resources: { "%%windows%%": 0, ...Object.fromEntries(others) } });
  return text.replace('"%%windows%%":0,', `%{ for i, window in windows }${windows},%{ endfor }`);
}

/** An expression of Terraform. */
const place = (expression: string): string => `\${${expression}}`;
const ofEachWindow = `HolderHoldDuring${place("i + 1")}`;

function markPlaces(id: string, { Type, Properties }: Resource): void {
  const properties: Record<string, unknown> = Properties;
  const { Environment, PolicyDocument, Target, AlarmName, Code } = Properties;
  if (Environment) Environment.Variables = markVariables(Environment.Variables);
  if (PolicyDocument)
    PolicyDocument.Statement = PolicyDocument.Statement.map((one) =>
      one.Action === "events:PutEvents" ? { Action: "", "%%statement%%": one, "%%end%%": 0 } : one,
    );
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

/** Functions have all settings, or a few in the place of which each stays. */
function markVariables(variables: Record<string, unknown>): Record<string, unknown> {
  const names: readonly string[] = Object.values(SettingEnvironment);
  const isOfAll = SettingEnvironment.maxHold in variables;
  const own = Object.entries(variables).filter(([name]) => name !== "EVENTS" && !names.includes(name));
  const few = names.filter((name) => name in variables).map((name) => [name, `@@settings.${name}@@`]);
  return {
    ...(isOfAll ? { "%%settings%%": 0 } : Object.fromEntries(few)),
    ...Object.fromEntries(own),
    ...("EVENTS" in variables && { "%%events%%": 0 }),
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
  alarm["%%actions%%"] = 0;
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
  ].reduce((text, [old, place]) => text.replaceAll(old, place), plain);
  return named
    .replaceAll('"%%settings%%":0', place("environment"))
    .replaceAll(/,"%%(events|actions)%%":0/g, (_, block: keyof typeof blocks) => blocks[block])
    .replaceAll(/,\{"Action":"","%%statement%%":(.+?),"%%end%%":0\}/g, "%{ if events },$1%{ endif }")
    .replaceAll(/@@end of ((?:[^@]|@@in_ids@@)+)@@/g, place('strrev(substr(strrev("$1"), 0, 128))'))
    .replaceAll(/"##([^#]+)##"/g, place("$1"))
    .replaceAll(/@@([^@]+)@@/g, place("$1"));
}

const blocks = {
  events: '%{ if events },"EVENTS":"true"%{ endif }',
  actions: `%{ if topic != "" },"AlarmActions":["${place("topic")}"],"OKActions":["${place("topic")}"]%{ endif }`,
} as const;
