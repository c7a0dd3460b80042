import { FileSystem } from "aws-cdk-lib";
import type { Template } from "aws-cdk-lib/assertions";
import { bundleOf } from "../../infra/functions/bundles.ts";
import { parts } from "../../infra/names.ts";
import { documentLink } from "../../infra/package-root.ts";

/** A template as a reviewer reads it: a paragraph for each resource. */
export const summaryOf = (template: Template): readonly string[] =>
  withoutRepeats([...resourcesOf(template)].map(([name, fields]) => [name, ...linesOf(fields, 1)]));

/** One paragraph for all that are alike; of one that is much like an earlier one, what differs. */
function withoutRepeats(paragraphs: readonly (readonly string[])[]): readonly string[] {
  const shown: Readonly<{ resource: string; type: string; fields: readonly string[] }>[] = [];
  const items = new Map<string, string>();
  const alike = Map.groupBy(paragraphs, ([name, ...rest]) => [name?.replace(/\S+/, ""), ...rest].join("\n"));
  return [...alike].map(([text, all]) => {
    const [type = "", ...lines] = text.split("\n");
    const resource = all.map(([name]) => name?.replace(/ .*/, "")).join(", ");
    const fields = blocksIn(lines, 2);
    const common = (other: (typeof shown)[number]) =>
      other.type === type ? other.fields.filter((field) => fields.includes(field)).length : 0;
    const [near] = shown.toSorted((a, b) => common(b) - common(a));
    shown.push({ resource, type, fields });
    const title = `${resource}${type}`;
    const whole = () => fields.map((field) => withKnownItems(field, resource, items));
    if (!near || common(near) < 3) return [title, ...whole()].join("\n");
    return [`${title} as ${near.resource}, but for`, ...differing(fields, near.fields)].join("\n");
  });
}

/** The fields that another resource has not, and those that it alone has. */
function differing(fields: readonly string[], others: readonly string[]): readonly string[] {
  const nameOf = (field: string) => /[^:]+:/.exec(field)?.[0];
  const names = new Set(fields.map(nameOf));
  const missing = others.map(nameOf).filter((name) => !names.has(name));
  return [...fields.filter((field) => !others.includes(field)), ...missing.map((name) => `${name} none`)];
}

/** Items of more than two lines that an earlier resource has refer to it by their first line. */
const withKnownItems = (field: string, resource: string, known: Map<string, string>): string =>
  blocksIn(field.split("\n"), 4)
    .map((item) => {
      const first = known.get(item) ?? resource;
      known.set(item, first);
      const [line = "", ...others] = item.split("\n");
      const isKnown = line.startsWith("    - ") && others.length > 1 && first !== resource;
      return isKnown ? `${line}, as in ${first}` : item;
    })
    .join("\n");

/** Lines as blocks that begin where the indent is this much or less. */
function blocksIn(lines: readonly string[], indent: number): readonly string[] {
  const blocks: string[][] = [];
  for (const line of lines)
    if (line.search(/\S/) <= indent || blocks.length === 0) blocks.push([line]);
    else blocks.at(-1)?.push(line);
  return blocks.map((block) => block.join("\n"));
}

/** References by name, and nothing that changes with every build or that its own tests show. */
const resourcesOf = (template: Template): ReadonlyMap<string, unknown> =>
  new Map(
    Object.entries<Resource>(template.toJSON().Resources).map(([id, { Type, Properties, DependsOn }]) => {
      const { PolicyName: _, AlarmName: _n, AlarmDescription: _d, DashboardBody: _b, ...shown } = Properties;
      const { Code, bundle, ...others } = shown;
      const properties = {
        ...others,
        ...(Code !== undefined && { Code: bundleWith(String(Object(Code).S3Key).replace(".zip", "")) }),
        ...(bundle !== undefined && { bundle: bundleWith(String(bundle)) }),
      };
      const after = DependsOn?.map(named).sort().join(", ");
      return [`${named(id)} (${Type})`, { ...(after && { after }), ...Object(joined(properties)) }];
    }),
  );

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
    if (text !== undefined) return [`${indent}${label} ${text}`];
    const [only, ...others] = Object.entries(Object(one));
    // What has one field alone is a path.
    if (only && others.length === 0 && label !== "-" && !Array.isArray(one))
      return linesOf({ [`${name}.${only[0]}`]: only[1] }, depth);
    const lines = linesOf(one, depth + 1);
    if (label !== "-") return [`${indent}${label}`, ...lines];
    return [`${indent}- ${lines[0]?.trim()}`, ...lines.slice(1)];
  });
}
