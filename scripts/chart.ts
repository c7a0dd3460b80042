import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dump } from "js-yaml";
import { meaningOf, runSettings } from "../infra/settings/deployment.ts";
import type { RightsOptions } from "../lambda/cluster-access/manifest.ts";
import { holderName, Karpenter } from "../lambda/core/marks/keys.ts";
import type { Setting } from "../lambda/settings-table.ts";
import { rightsToRun } from "../local/run/manifest-yaml.ts";
import { checksTemplate } from "./chart-checks.ts";
import { chartDashboard } from "./chart-dashboard.ts";
import { chartListing } from "./chart-listing.ts";
import { settingsSchema } from "./settings-schema.ts";

/*
 * What of the chart is computed: its name and version from package.json, its settings from their table, its rights from
 * the manifest, its dashboard from the metrics. `npm run build:chart` writes it, and a test compares.
 */

export const chartFolder = join(import.meta.dirname, "../charts", holderName);

type Value = readonly [help: string, value: unknown, schema?: object];

/** The values beside the settings; a dot leads into an object. */
const valuesOf = (image: string): Readonly<Record<string, Value>> => ({
  "image.repository": ["the image", image],
  "image.tag": ["its tag; the chart's appVersion if empty", ""],
  "image.pullPolicy": ["when it is pulled", "IfNotPresent", { enum: ["Always", "IfNotPresent", "Never"] }],
  imagePullSecrets: ["Secrets to pull it with, each like {name: registry}", []],
  "serviceAccount.annotations": ["annotations of the ServiceAccount", {}],
  podAnnotations: ["annotations of the Pod", {}],
  podLabels: ["labels of the Pod beside the chart's", {}],
  resources: ["of the container", { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "512Mi" } }],
  nodeSelector: ["labels of the nodes on which the Pod may run", {}],
  tolerations: ["taints that the Pod tolerates", []],
  affinity: ["affinity of the Pod", {}],
  priorityClassName: ["priority class of the Pod", ""],
  replicas: ["2 for one that waits to take over", 1, { type: "integer", minimum: 1, maximum: 2 }],
  "storage.enabled": [
    "keep the record on a volume; without one, each new Pod forgets requests, pauses and history",
    false,
  ],
  "storage.size": ["size of the volume", "1Gi"],
  "storage.className": ["its storage class; the cluster's default if empty, none if -", ""],
  releaseOnUninstall: ["release all nodes after an uninstall, by a Job that may take four minutes", true],
  "networkPolicy.enabled": ["let only the peers in `from` open the metrics port; probes still work", false],
  "networkPolicy.from": ["peers of a NetworkPolicy, each like {namespaceSelector: {...}}; none if empty", []],
  "serviceMonitor.enabled": [
    "a Service and a ServiceMonitor for the Prometheus operator, whose CRDs must exist",
    false,
  ],
  "serviceMonitor.interval": ["how often Prometheus scrapes", "1m"],
  "serviceMonitor.labels": ["labels by which your Prometheus selects the ServiceMonitor", {}],
  "prometheusRule.enabled": [
    "a PrometheusRule with the alerts of alerts.yaml, for the Prometheus operator, whose CRDs must exist",
    false,
  ],
  "prometheusRule.labels": ["labels by which your Prometheus selects it", {}],
  "grafanaDashboard.enabled": ["a ConfigMap with a dashboard, which Grafana's sidecar loads", false],
  "grafanaDashboard.labels": ["labels by which the sidecar selects it", { grafana_dashboard: "1" }],
});

type Package = Readonly<{
  version: string;
  license: string;
  repository: { url: string };
}>;

/** Each computed file and its text; the changes of a release are in it where a changelog is given. */
export function chartFiles(changelog?: string): Readonly<Record<string, string>> {
  const about: Package = JSON.parse(readFileSync(join(import.meta.dirname, "../package.json"), "utf8"));
  const home = about.repository.url.replace(/^git\+|\.git$/g, "");
  const image = `ghcr.io${new URL(home).pathname.toLowerCase()}`;
  const values = valuesOf(image);
  const listing = chartListing({ ...about, home, image }, changelog);
  return {
    "Chart.yaml": computed(dump({ ...chartOf(about, home), ...listing }, { lineWidth: -1 })),
    "values.yaml": computed(valuesYaml(values)),
    "values.schema.json": json(schemaOf(values)),
    "dashboard.json": `${JSON.stringify(chartDashboard())}\n`,
    "templates/_checks.tpl": checksTemplate(),
    "templates/_rights.tpl": rightsTemplate(),
  };
}

const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;
const computed = (yaml: string) => `# Written by npm run build:chart.\n${yaml}`;

const chartOf = ({ version }: Package, home: string) => ({
  apiVersion: "v2",
  name: holderName,
  version,
  appVersion: version,
  description: "Keeps Karpenter's nodes for a while after every launch; without AWS.",
  type: "application",
  // The first with admission policies.
  kubeVersion: ">=1.30.0-0",
  home,
  sources: [home],
  keywords: ["karpenter", "consolidation", "node-churn"],
});

function valuesYaml(values: Readonly<Record<string, Value>>): string {
  const lines = ["# Settings of the holder, each a flag of `run`; what is left out has the default."];
  lines.push("settings:");
  for (const [name, setting] of Object.entries<Setting>(runSettings))
    lines.push(...settingLines(name, setting));
  let object = "";
  for (const [path, [help, value]] of Object.entries(values)) {
    const [name = "", inner] = path.split(".");
    if (inner !== undefined && name !== object) lines.push(`${name}:`);
    object = name;
    const indent = inner === undefined ? "" : "  ";
    const yaml = dump({ [inner ?? name]: value }).trimEnd();
    lines.push(...[`# ${help}`, ...yaml.split("\n")].map((line) => indent + line));
  }
  return `${lines.join("\n")}\n`;
}

/** What no template can check. */
const notChecked: Readonly<Record<string, string>> = {
  holdDuring: "; `run` checks time zones and dates when it starts",
};

function settingLines(name: string, setting: Setting): readonly string[] {
  const help = `  # ${meaningOf(setting)}${notChecked[name] ?? ""}`;
  if (setting.unset === "required") return [`${help} (required)`, `  ${name}: ""`];
  const fallback = setting.runDefault ?? setting.default;
  if (fallback !== undefined) return [help, `  # ${name}: ${fallback}`];
  const { value } = setting;
  const items = value.kind === "list" ? value.example.split(value.separator ?? ",") : [];
  const example = items.length > 0 ? `[${items.map((one) => `"${one}"`)}]` : "";
  return [`${help} (default: ${setting.unset})`, `  # ${name}: ${example || Object(value).example}`];
}

function schemaOf(values: Readonly<Record<string, Value>>) {
  const { $schema, ...settings } = settingsSchema();
  const properties: Record<string, object> = { settings };
  const inner: Record<string, Record<string, object>> = {};
  for (const [path, [help, value, schema]] of Object.entries(values)) {
    const [name = "", field] = path.split(".");
    const property = { description: help, type: typeOf(value), ...schema };
    if (field === undefined) properties[name] = property;
    else {
      inner[name] = { ...inner[name], [field]: property };
      properties[name] = { type: "object", additionalProperties: false, properties: inner[name] };
    }
  }
  // Helm gives a chart that is part of another one the values that all share.
  properties.global = { type: "object" };
  return { $schema, type: "object", additionalProperties: false, required: ["settings"], properties };
}

const typeOf = (value: unknown): string => (Array.isArray(value) ? "array" : typeof value);

/**
 * The rights of `manifest --holder run` as a template with the parameters `root`, `account` (whose they are, and their
 * name), `annotations` (of every object) and `mode` (the settings' unless given; then without the rights of other settings).
 */
function rightsTemplate(): string {
  const generations = Object.entries(Karpenter).map(([name, { annotation }]) => `"${name}" "${annotation}"`);
  const observing = objectsFor({ mode: "observe" });
  const looking = objectsFor({ auto: true });
  const plain = objectsFor({});
  const ofEvents = objectsFor({ nodeEvents: true }).filter((object) => !plain.includes(object));
  const objects = plain.map(
    (object, at) => withoutPatchToObserve(object, observing[at]) + podRightsIn(looking[at], object),
  );
  const { karpenter, mode } = runSettings;
  return `{{- /* Written by npm run build:chart: the objects that \`manifest --holder run\` prints. */}}
{{- define "${holderName}.rights" }}
{{- $set := .root.Values.settings }}
{{- $mode := .mode | default ($set.mode | default "${mode.default}") }}
{{- $known := dict ${generations.join(" ")} }}
{{- $annotation := $set.holdAnnotation | default (get $known ($set.karpenter | default "${karpenter.default}")) }}
${objects.map((object, at) => (isOfLease(object) ? onlyToRun(object) : `${at > 0 ? "---\n" : ""}${object}`)).join("")}\
{{- if and (not .mode) (ne $mode "observe") (eq (toString $set.nodeEvents) "true") }}
${ofEvents.map((object) => `---\n${object}`).join("")}{{- end }}
{{- end }}
`;
}

/** Only a holder at work needs the Lease. */
const isOfLease = (object: string): boolean => /^kind: Role(Binding)?$/m.test(object);
const onlyToRun = (object: string): string => `{{- if not .mode }}\n---\n${object}{{- end }}\n`;

/** The verb that a holder needs to hold, and not to observe. */
const patchVerb = "      - patch\n";

function withoutPatchToObserve(object: string, observing: string | undefined): string {
  if (object === observing) return object;
  if (object.replace(patchVerb, "") !== observing)
    throw new Error("the rights to observe differ from the others by more than one verb");
  return object.replace(patchVerb, `{{- if ne $mode "observe" }}\n${patchVerb}{{- end }}\n`);
}

/** With `hold=auto` the rights to list pods follow the others; without NodeClaims they are of no use. */
function podRightsIn(looking: string | undefined, object: string): string {
  if (looking === object) return "";
  if (!looking?.startsWith(object)) throw new Error("the rights of hold=auto do not follow the others");
  const { hold, karpenter } = runSettings;
  const isAuto = `(eq ($set.hold | default "${hold.default}") "auto")`;
  const hasClaims = `(eq ($set.karpenter | default "${karpenter.default}") "v1")`;
  return `{{- if and (not .mode) ${isAuto} ${hasClaims} }}\n${looking.slice(object.length)}{{- end }}\n`;
}

/** Stand for text that the template fills in; none of it needs an escape in YAML or CEL. */
const places: readonly (readonly [RegExp, string])[] = [
  [/example\.com\/annotation/g, "{{ $annotation }}"],
  [/the-account/g, "{{ .account }}"],
  [/(?<=^ {2}(?:name|policyName): )karpenter-node-holder$/gm, "{{ .account }}"],
  [/the-namespace/g, "{{ .root.Release.Namespace }}"],
  [/(?<= {2})the-labels: .+$/gm, `labels:\n    {{- include "${holderName}.labels" .root | nindent 4 }}`],
  [
    /^ {2}the-annotations: .+$/gm,
    "  {{- with .annotations }}\n  annotations:\n    {{- toYaml . | nindent 4 }}\n  {{- end }}",
  ],
];

const objectsFor = (rights: Omit<RightsOptions, "subject">): readonly string[] => {
  const subject = { kind: "ServiceAccount", name: "the-account", namespace: "the-namespace" } as const;
  return rightsToRun("example.com/annotation", { subject, ...rights }).map((object) => {
    const metadata = { ...Object(object).metadata, "the-labels": "", "the-annotations": "" };
    const yaml = dump({ ...object, metadata }, { lineWidth: -1, noRefs: true });
    return places.reduce((filled, [place, by]) => filled.replaceAll(place, by), yaml);
  });
};

// A release names its changes; the sources do not, so that the changelog alone has them.
const released = process.argv.includes("--release") ? readFileSync("CHANGELOG.md", "utf8") : undefined;
if (import.meta.main)
  for (const [file, content] of Object.entries(chartFiles(released)))
    writeFileSync(join(chartFolder, file), content);
