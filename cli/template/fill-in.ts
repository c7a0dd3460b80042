import { eventsVariable, SettingEnvironment, settingsEnvironment } from "../../lambda/environment.ts";
import { fingerprint, functionName, parts, scheduleGroupName } from "../../lambda/names.ts";
import { readSettings, type Settings } from "../../lambda/settings.ts";
import { deploymentSettings, type Values } from "../../lambda/settings-table.ts";
import { type Window, windowMessage } from "../../lambda/triggers.ts";

/** The cluster of the templates that come with the package; so long that every name is cut and thereby unique. */
export const anyCluster = `AnyCluster${"0".repeat(60)}`;

/** The templates differ in resources by the setting `access`; everything else can be filled in. */
export const templateKinds = deploymentSettings.access.value.choices;
export type TemplateKind = (typeof templateKinds)[number];

/** Each asset: a function of ours, or CDK's provider of custom resources. */
export type Asset = (typeof parts)[number] | "provider";
type Code = Readonly<{ S3Bucket: string; S3Key: string }>;

export type Resource = Readonly<{
  Type: string;
  Properties: {
    FunctionName?: unknown;
    PolicyName?: string;
    PolicyDocument?: { Statement: { Action: unknown }[] };
    Code?: Asset | Code;
    Environment?: { Variables: Record<string, unknown> };
    AlarmName?: string;
    Threshold?: number;
    AlarmActions?: readonly string[];
    OKActions?: readonly string[];
    holdAnnotation?: string;
    mode?: string;
    auto?: boolean;
    ScheduleExpression?: string;
    ScheduleExpressionTimezone?: string;
    Target?: { Input: string };
  };
}>;
export type Template = Readonly<{ Resources: Readonly<Record<string, Resource>> }>;

export type Choice = Pick<Values<typeof deploymentSettings>, "access" | "events" | "alarmTopicArn"> &
  Readonly<{
    settings: Settings;
    windows: readonly Window[];
    /** Where the code of each asset is. */
    codeOf: (asset: Asset) => Code;
  }>;

/** Fills cluster, settings and assets into a template that came with the package. */
export function fillIn(text: string, choice: Choice): Template {
  const template: Template = JSON.parse(renamed(text, choice.settings.cluster));
  const Resources = withWindows(template.Resources, choice.windows);
  for (const [id, resource] of Object.entries(Resources)) {
    change(resource, choice);
    // The CDK names a policy after its id.
    if (resource.Type === "AWS::IAM::Policy") resource.Properties.PolicyName = id.slice(-128);
  }
  return { ...template, Resources };
}

/** The template has one window; each window of the settings is a copy of its resources. */
function withWindows(resources: Template["Resources"], windows: readonly Window[]): Template["Resources"] {
  const first = "HolderHoldDuring1";
  const { true: ofWindow = [], false: others = [] } = Object.groupBy(Object.entries(resources), ([id]) =>
    id.startsWith(first) ? "true" : "false",
  );
  const text = JSON.stringify(Object.fromEntries(ofWindow));
  const copies = windows.map((window, i): Template["Resources"] => {
    const copy: Template["Resources"] = JSON.parse(text.replaceAll(first, `HolderHoldDuring${i + 1}`));
    for (const { Properties } of Object.values(copy)) {
      if (!Properties.Target) continue;
      Properties.ScheduleExpression = window.schedule;
      Properties.ScheduleExpressionTimezone = window.timeZone;
      Properties.Target.Input = windowMessage(window);
    }
    return copy;
  });
  return Object.assign(Object.fromEntries(others), ...copies);
}

/** As in the construct, some ids contain the cluster's name: for another cluster these resources are created anew. */
function renamed(text: string, cluster: string): string {
  const inIds = `${cluster.replaceAll(/[^0-9A-Za-z]/g, "")}${fingerprint(cluster)}`;
  const names = [
    ...parts.map((part) => [functionName(anyCluster, part), functionName(cluster, part)] as const),
    [scheduleGroupName(anyCluster), scheduleGroupName(cluster)] as const,
    [`HolderHolds${anyCluster}`, `HolderHolds${inIds}`] as const,
    [`HolderAccess${anyCluster}`, `HolderAccess${inIds}`] as const,
    [anyCluster, cluster] as const,
  ];
  return names.reduce((all, [old, name]) => all.replaceAll(old, name), text);
}

function change({ Properties }: Resource, { settings, events, alarmTopicArn, codeOf }: Choice): void {
  const variables = Properties.Environment?.Variables;
  if (variables) setVariables(variables, settings);
  if (events === "false") withoutEvents(Properties);
  if (typeof Properties.Code === "string") Properties.Code = codeOf(Properties.Code);
  if (Properties.holdAnnotation) Properties.holdAnnotation = settings.holdAnnotation;
  if (Properties.mode) Properties.mode = settings.mode;
  if (Properties.auto !== undefined) Properties.auto = settings.auto;
  if (Properties.AlarmName) changeAlarm(Properties, settings, alarmTopicArn);
}

/** The template sends events. */
function withoutEvents({ Environment, PolicyDocument }: Resource["Properties"]): void {
  delete Environment?.Variables[eventsVariable];
  if (PolicyDocument)
    PolicyDocument.Statement = PolicyDocument.Statement.filter(({ Action }) => Action !== "events:PutEvents");
}

/** Only those that the function has: the one that installs the access reads few. */
function setVariables(variables: Record<string, unknown>, settings: Settings): void {
  const isOfAll = SettingEnvironment.maxHold in variables;
  const values = settingsEnvironment(settings);
  for (const variable of Object.values(SettingEnvironment)) {
    if (!isOfAll && !(variable in variables)) continue;
    delete variables[variable];
    if (values[variable]) variables[variable] = values[variable];
  }
}

/** Two alarms compare with a setting; the template has them for its default. */
function changeAlarm(alarm: Resource["Properties"], settings: Settings, topic: string): void {
  const usual = readSettings({ cluster: settings.cluster });
  const raised = (of: string, by: number) => {
    if (alarm.AlarmName?.endsWith(of) && alarm.Threshold !== undefined) alarm.Threshold += by;
  };
  raised("-hold-over-cap", settings.maxHold - usual.maxHold);
  raised("-slow-protection", settings.initialDelay - usual.initialDelay);
  if (topic) Object.assign(alarm, { AlarmActions: [topic], OKActions: [topic] });
}
