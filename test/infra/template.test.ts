import { describe, expect, it } from "vitest";
import { fillIn, kindOf, type Template, type TemplateKind } from "../../cli/template/fill-in.ts";
import { readSettings } from "../../lambda/settings.ts";
import { synthesizeStack, synthesizeTemplate } from "../../scripts/templates.ts";

const built = new Map<TemplateKind, string>();
function builtFor(kind: TemplateKind): string {
  const text = built.get(kind) ?? JSON.stringify(synthesizeTemplate(kind).template);
  built.set(kind, text);
  return text;
}

type Context = Readonly<Record<string, string>> & Readonly<{ cluster: string }>;

function filledIn({ access, alarmTopicArn, ...raw }: Context): Template {
  const choice = {
    settings: readSettings(raw),
    access: access === "manual" ? ("manual" as const) : ("install" as const),
    codeOf: (asset: string) => ({ S3Bucket: "bucket", S3Key: asset }),
    ...(alarmTopicArn && { alarmTopicArn }),
  };
  return fillIn(builtFor(kindOf(choice)), choice);
}

/** Resources by type and order instead of id; without the code's place, and names made of ids. */
function comparable(template: Template): unknown {
  const ids = Object.entries(template.Resources).map(([id, { Type }], i) => [id, `${Type} ${i}`] as const);
  const longestFirst = ids.toSorted(([a], [b]) => b.length - a.length);
  const text = longestFirst.reduce((all, [id, name]) => all.replaceAll(id, name), JSON.stringify(template));
  return JSON.parse(text, (key, value) => {
    if (key === "Code" || key === "PolicyName") return key;
    return key === "DependsOn" && Array.isArray(value) ? value.toSorted() : value;
  });
}

const settings: readonly Context[] = [
  { cluster: "prod" },
  { cluster: "prod", access: "manual", hold: "auto", relaunchCost: "15m" },
  { cluster: "long_Name-".repeat(10), hold: "30m", maxHold: "4h", breather: "5m", initialDelay: "30s" },
  {
    cluster: "an-other",
    scope: "nodepool",
    nodePools: "batch,!system",
    replacements: "hold",
    extendOn: "launches",
    karpenter: "v0.31",
    holdAnnotation: "example.com/keep",
    alarmTopicArn: "arn:aws:sns:us-east-1:111122223333:ops",
  },
];

describe("the template for those without the CDK", () => {
  it.each(settings)("is the construct's with %j", (context) => {
    expect(comparable(filledIn(context))).toEqual(comparable(synthesizeStack(context).template));
  });

  it("names the code of all six functions", () => {
    const text = JSON.stringify(filledIn({ cluster: "prod" }));
    expect(
      [...text.matchAll(/"S3Bucket":"bucket","S3Key":"([\w-]+)"/g)].map(([, key]) => key).sort(),
    ).toEqual(["cluster-access", "control", "hold", "provider", "release", "sweep"]);
  });

  it("leaves nothing of the cluster it was built for, and gives each cluster a table of its own", () => {
    const text = JSON.stringify(filledIn({ cluster: "prod" }));
    expect(text).not.toMatch(/AnyCluster|0{20}/);
    const tableOf = (cluster: string) =>
      Object.entries(filledIn({ cluster }).Resources).find(
        ([, { Type }]) => Type === "AWS::DynamoDB::Table",
      )?.[0];
    expect(tableOf("a-b")).not.toBe(tableOf("ab"));
  });
});
