import { FileSystem } from "aws-cdk-lib";
import type { Template } from "aws-cdk-lib/assertions";
import { bundleOf } from "../../infra/functions/bundles.ts";
import { parts } from "../../lambda/names.ts";
import { documentLink } from "../../lambda/package-root.ts";

/**
 * A template as a reviewer reads it: a paragraph for each resource, references by name, and nothing that changes with
 * every build.
 */
export const summaryOf = (template: Template): readonly string[] =>
  Object.entries<Resource>(template.toJSON().Resources).map(([id, { Type, Properties, DependsOn }]) => {
    const { PolicyName: _, Code, bundle, DashboardBody, ...others } = Properties;
    const properties = {
      ...others,
      ...(Code !== undefined && { Code: bundleWith(String(Object(Code).S3Key).replace(".zip", "")) }),
      ...(bundle !== undefined && { bundle: bundleWith(String(bundle)) }),
      ...(DashboardBody !== undefined && { DashboardBody: JSON.parse(String(joined(DashboardBody))) }),
    };
    const after = DependsOn?.map(named).sort().join(", ");
    return [
      `${named(id)} (${Type})`,
      ...(after ? [`  after ${after}`] : []),
      ...linesOf(joined(properties), 1),
    ].join("\n");
  });

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

/** The value with its references as text: {Name}, {Name.Attribute}. */
function joined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(joined);
  if (typeof value !== "object" || value === null) return value;
  const [[key = "", inner] = []] = Object.entries(value);
  if (key === "Ref") return `{${named(String(inner))}}`;
  if (key === "Fn::GetAtt" && Array.isArray(inner)) return `{${named(inner[0])}.${inner[1]}}`;
  if (key === "Fn::FindInMap" && Array.isArray(inner)) return `{${inner.map(joined).join(".")}}`;
  if (key === "Fn::Join" && Array.isArray(inner)) return inner[1].map(joined).join(inner[0]);
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
