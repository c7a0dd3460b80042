import { FileSystem } from "aws-cdk-lib";
import type { Template } from "aws-cdk-lib/assertions";
import { bundleOf } from "../../infra/functions/bundles.ts";
import { parts } from "../../infra/names.ts";
import { documentLink } from "../../infra/package-root.ts";

/** A template as a reviewer reads it: a paragraph for each resource. */
export const summaryOf = (template: Template): readonly string[] =>
  withoutRepeats([...resourcesOf(template)].map(([name, fields]) => [name, ...linesOf(fields, 1)]));

/** One paragraph for all that are alike; a field or item of more than three lines refers to an earlier one that has it. */
function withoutRepeats(paragraphs: readonly (readonly string[])[]): readonly string[] {
  const first = new Map<string, string>();
  const depthOf = (line: string) => line.search(/\S/);
  const alike = Map.groupBy(paragraphs, ([name, ...rest]) => [name?.replace(/\S+/, ""), ...rest].join("\n"));
  return [...alike].map(([text, all]) => {
    const [type, ...lines] = text.split("\n");
    const resource = all.map(([name]) => name?.replace(/ .*/, "")).join(", ");
    const shown = [`${resource}${type}`];
    while (lines.length > 0) {
      const [line = "", ...others] = lines;
      const next = others.findIndex((one) => depthOf(one) <= depthOf(line));
      const field = lines.slice(0, next < 0 ? lines.length : next + 1);
      const isItem = line.endsWith("-");
      const known = first.get(field.join()) ?? resource;
      const isShort = field.length > 3 && known !== resource && (isItem || depthOf(line) === 2);
      const about = isItem ? `, ${field.find((one) => one.includes(": "))?.trim()}` : "";
      shown.push(isShort ? `${line} as in ${known}${about}` : line);
      lines.splice(0, isShort ? field.length : 1);
      first.set(field.join(), known);
    }
    return shown.join("\n");
  });
}

/** References by name, and nothing that changes with every build. */
const resourcesOf = (template: Template): ReadonlyMap<string, unknown> =>
  new Map(
    Object.entries<Resource>(template.toJSON().Resources).map(([id, { Type, Properties, DependsOn }]) => {
      const { PolicyName: _, Code, bundle, DashboardBody, ...others } = Properties;
      const properties = {
        ...others,
        ...(Code !== undefined && { Code: bundleWith(String(Object(Code).S3Key).replace(".zip", "")) }),
        ...(bundle !== undefined && { bundle: bundleWith(String(bundle)) }),
        ...(DashboardBody !== undefined && dashboardOf(JSON.parse(String(joined(DashboardBody))))),
      };
      const after = DependsOn?.map(named).sort().join(", ");
      return [`${named(id)} (${Type})`, { ...(after && { after }), ...Object(joined(properties)) }];
    }),
  );

/** What a dashboard shows and where, without what is alike in all its widgets. */
function dashboardOf({ start, widgets }: Dashboard): object {
  const periods = new Set<unknown>();
  const shown = widgets.map(({ type, width, height, x, y, properties }) => {
    const { title, view = type, region: _, yAxis: _axis, metrics, ...others } = properties;
    const drawn = metrics?.map((metric) => {
      const { period, ...about } = Object(metric.at(-1));
      periods.add(period);
      return [...metric.slice(0, -1), about];
    });
    const place = `${title} (${view}, ${width}x${height} at ${x},${y})`;
    return [place, { ...others, ...(drawn && { metrics: drawn }) }];
  });
  return { start, periods: [...periods], ...Object.fromEntries(shown) };
}

type Widget = Readonly<Record<"type" | "width" | "height" | "x" | "y", unknown>> &
  Readonly<{ properties: Record<string, unknown> & { metrics?: readonly (readonly unknown[])[] } }>;
type Dashboard = Readonly<{ start: unknown; widgets: readonly Widget[] }>;

/** The outputs of a template, in the same way. */
export const outputsOf = (template: Template): readonly string[] =>
  linesOf(
    joined(
      Object.fromEntries(Object.entries(template.findOutputs("*")).map(([id, one]) => [named(id), one])),
    ),
    0,
  );

type Resource = Readonly<{
  Type: string;
  Properties: Record<string, unknown>;
  DependsOn?: readonly string[];
}>;

const bundles = new Map(parts.map((part) => [FileSystem.fingerprint(bundleOf(part)), part]));
const bundleWith = (hash: string): string => `bundle of ${bundles.get(hash) ?? "the CDK"}`;

/** A logical id without the hash that the CDK appends. */
const named = (id: string): string => id.replace(/^Holder(?=.)/, "").replace(/[0-9A-F]{8}$/, "");

/** The value with its references as text: {Name}, {Name.Attribute}. Of a policy, its statements. */
function joined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(joined);
  if (typeof value !== "object" || value === null) return value;
  const [[key = "", inner] = []] = Object.entries(value);
  if (key === "Ref") return `{${named(String(inner))}}`;
  if (key === "Fn::GetAtt" && Array.isArray(inner)) return `{${named(inner[0])}.${inner[1]}}`;
  if (key === "Fn::FindInMap" && Array.isArray(inner)) return `{${inner.map(joined).join(".")}}`;
  if (key === "Fn::Join" && Array.isArray(inner)) return inner[1].map(joined).join(inner[0]);
  if ("Statement" in value) return joined(value.Statement);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, joined(one)]));
}

const width = 120;

function linesOf(value: unknown, depth: number): string[] {
  const indent = "  ".repeat(depth);
  const short = (one: unknown) => {
    // Where the runbook is read changes with the version.
    if (typeof one === "string") return one.replace(documentLink("operating.md"), "docs/operating.md");
    const text = JSON.stringify(one).replaceAll('"', "").replaceAll(",", ", ");
    return typeof one !== "object" || text.length + indent.length < width ? text : undefined;
  };
  return Object.entries(Object(value)).flatMap(([name, one]) => {
    const label = Array.isArray(value) ? "-" : `${name}:`;
    const text = short(one);
    return text === undefined
      ? [`${indent}${label}`, ...linesOf(one, depth + 1)]
      : [`${indent}${label} ${text}`];
  });
}
