import { describe, expect, it } from "vitest";
import { fillIn, type Template, type TemplateKind } from "../../cli/template/fill-in.ts";
import { checkDeployment, settingsTable } from "../../infra/settings/deployment.ts";
import type { Setting } from "../../lambda/settings-table.ts";
import { synthesizeStack, synthesizeTemplate } from "../../scripts/templates.ts";
import { comparable } from "../support/comparable-template.ts";
import { otherCosts, otherValues } from "../support/other-values.ts";

const built = new Map<TemplateKind, string>();
function builtFor(kind: TemplateKind): string {
  const text = built.get(kind) ?? JSON.stringify(synthesizeTemplate(kind).template);
  built.set(kind, text);
  return text;
}

type Context = Readonly<Record<string, string>> & Readonly<{ cluster: string }>;

function filledIn(context: Context): Template {
  const { settings, deployment, windows } = checkDeployment(context);
  const codeOf = (asset: string) => ({ S3Bucket: "bucket", S3Key: asset });
  const choice = { settings, windows, ...deployment, codeOf };
  return fillIn(builtFor(choice.access), choice);
}

const fillable = Object.entries<Setting>(settingsTable).filter(([, { constructOnly }]) => !constructOnly);
const others = otherValues(Object.fromEntries(fillable));
const { access: _, ...installed } = others;
const contexts: readonly Context[] = [
  { cluster: "prod" },
  { ...others, cluster: "an-other" },
  { ...installed, cluster: "long_Name-".repeat(10) },
  { cluster: "prod", ...otherCosts(settingsTable) },
  { cluster: "prod", holdDuring: "cron(0 8 ? * MON-FRI *) Europe/Berlin 2h; rate(1 day) 30m" },
];

describe("the template for those without the CDK", () => {
  it.each(contexts)("is the construct's with %j", (context) => {
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
