import { fingerprint, functionName, parts, ruleName, scheduleGroupName } from "../../infra/names.ts";
import { deploymentSettings, settingsEnvironment, settingsTable } from "../../infra/settings/deployment.ts";
import { type Window, windowMessage } from "../../infra/settings/windows.ts";
import { eventsVariable, monitoringVariable, SettingEnvironment } from "../../lambda/environment.ts";
import { readSettings, type Settings } from "../../lambda/settings.ts";
import type { Values } from "../../lambda/settings-table.ts";

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
    PolicyDocument?: { Statement: { Action: unknown; Resource?: unknown }[] };
    PermissionsBoundary?: string;
    Path?: string;
    KmsMasterKeyId?: string;
    KmsKeyId?: string;
    SSESpecification?: unknown;
    SqsManagedSseEnabled?: boolean;
    Code?: Asset | Code;
    Environment?: { Variables: Record<string, unknown> };
    AlarmName?: string;
    Threshold?: number;
    AlarmActions?: readonly string[];
    OKActions?: readonly string[];
    holdAnnotation?: string;
    mode?: string;
    auto?: boolean;
    nodeEvents?: string;
    ScheduleExpression?: string;
    ScheduleExpressionTimezone?: string;
    Target?: { Input: string };
  };
}>;
export type Template = Readonly<{
  Resources: Readonly<Record<string, Resource>>;
  Outputs?: Readonly<Record<string, unknown>>;
  Mappings?: unknown;
}>;

type Filled = "access" | "events" | "alarmTopicArn" | "monitoring" | Restriction;
export type Choice = Pick<Values<typeof deploymentSettings>, Filled> &
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
  // First of all: what is filled in may contain an example.
  const filled = restricted({ ...template, Resources }, choice);
  for (const [id, resource] of Object.entries(filled.Resources)) {
    change(resource, choice);
    // The CDK names a policy after its id.
    if (resource.Type === "AWS::IAM::Policy") resource.Properties.PolicyName = id.slice(-128);
  }
  return withoutUnwanted(filled, choice);
}

/** Leaves out what the monitoring is without. */
function withoutUnwanted(template: Template, { monitoring }: Choice): Template {
  if (monitoring === "full") return template;
  const unwanted = [
    "AWS::CloudWatch::Dashboard",
    ...(monitoring === "none" ? ["AWS::CloudWatch::Alarm"] : []),
  ];
  const wanted = Object.entries(template.Resources).filter(([, { Type }]) => !unwanted.includes(Type));
  const { Dashboard: _, ...Outputs } = template.Outputs ?? {};
  // The mapping leads to the dashboard.
  const { Mappings, ...others } = template;
  return { ...others, Resources: Object.fromEntries(wanted), Outputs };
}

type Restriction = "permissionsBoundaryArn" | "rolePath" | "kmsKeyArn";

/** In the template each of these has its example: puts what is wanted in its place, or leaves it out. */
function restricted(template: Template, choice: Choice): Template {
  const wants = (name: Restriction) => choice[name] !== "";
  const named: readonly Restriction[] = ["rolePath", "permissionsBoundaryArn", "kmsKeyArn"];
  for (const { Properties } of Object.values(template.Resources)) {
    if (!wants("permissionsBoundaryArn")) delete Properties.PermissionsBoundary;
    if (!wants("rolePath")) delete Properties.Path;
    if (!wants("kmsKeyArn")) {
      if (Properties.KmsMasterKeyId) Properties.SqsManagedSseEnabled = true;
      for (const name of ["KmsMasterKeyId", "KmsKeyId", "SSESpecification"] as const) delete Properties[name];
    }
    const { PolicyDocument } = Properties;
    if (!PolicyDocument) continue;
    const unwanted = named.filter((name) => !wants(name)).map(exampleOf);
    PolicyDocument.Statement = PolicyDocument.Statement.flatMap((one) => without(unwanted, one));
  }
  const text = named
    .filter(wants)
    .reduce((all, name) => all.replaceAll(exampleOf(name), choice[name]), JSON.stringify(template));
  return JSON.parse(text);
}

const exampleOf = (name: Restriction): string => settingsTable[name].value.example;

/** A statement without the resources that contain one of these; none where it has no other. */
function without<S extends Readonly<{ Resource?: unknown }>>(texts: readonly string[], statement: S): S[] {
  const isKept = (resource: unknown) => !texts.some((text) => JSON.stringify(resource).includes(text));
  const { Resource } = statement;
  if (Resource === undefined || isKept(Resource)) return [statement];
  if (!Array.isArray(Resource)) return [];
  const kept = Resource.filter(isKept);
  return [{ ...statement, Resource: kept.length === 1 ? kept[0] : kept }];
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
    [ruleName(anyCluster, "launches"), ruleName(cluster, "launches")] as const,
    [`HolderHolds${anyCluster}`, `HolderHolds${inIds}`] as const,
    [`HolderAccess${anyCluster}`, `HolderAccess${inIds}`] as const,
    [anyCluster, cluster] as const,
  ];
  return names.reduce((all, [old, name]) => all.replaceAll(old, name), text);
}

function change({ Properties }: Resource, choice: Choice): void {
  const { settings, events, alarmTopicArn, monitoring, codeOf } = choice;
  const variables = Properties.Environment?.Variables;
  if (variables) setVariables(variables, settings);
  if (variables && monitoring !== "full" && SettingEnvironment.cluster in variables)
    variables[monitoringVariable] = monitoring;
  if (events === "false") withoutEvents(Properties);
  if (typeof Properties.Code === "string") Properties.Code = codeOf(Properties.Code);
  if (Properties.holdAnnotation) Properties.holdAnnotation = settings.holdAnnotation;
  if (Properties.mode) Properties.mode = settings.mode;
  if (Properties.auto !== undefined) Properties.auto = settings.auto;
  if (Properties.nodeEvents) Properties.nodeEvents = String(settings.nodeEvents);
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
