import { Template } from "aws-cdk-lib/assertions";
import { describe, expect, it } from "vitest";
import { HolderStack } from "../../infra/holder-stack.ts";
import { readContext } from "../../infra/settings/context.ts";
import { functionIn, newApp } from "./synthesized.ts";

function templateIn(region?: string): Template {
  const settings = readContext({ cluster: "prod" });
  const props = region ? { env: { account: "111122223333", region } } : {};
  return Template.fromStack(new HolderStack(newApp(), "Test", settings, props));
}

/** Every text in a template, its parts joined as CloudFormation does. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  if ("Ref" in value) return [String(value.Ref)];
  if ("Fn::Join" in value && Array.isArray(value["Fn::Join"]))
    return [value["Fn::Join"][1].flatMap(textsIn).join("")];
  return Object.values(value).flatMap(textsIn);
}

const recursionIn = (template: Template): unknown => functionIn(template, "hold")?.RecursiveLoop;

describe.each([
  ["us-gov-west-1", "aws-us-gov", "us-gov-west-1.console.amazonaws-us-gov.com"],
  ["cn-north-1", "aws-cn", "cn-north-1.console.amazonaws.cn"],
  ["eusc-de-east-1", "aws-eusc", "eusc-de-east-1.console.amazonaws-eusc.eu"],
])("in %s", (region, partition, host) => {
  const template = templateIn(region);

  it("names resources by ARNs of its own partition only", () => {
    const arns = textsIn(template.toJSON().Resources).filter((text) => text.startsWith("arn:"));
    expect(arns.length).toBeGreaterThan(10);
    const fits = (arn: string) => /^arn:AWS::Partition:/.test(arn) || arn.startsWith(`arn:${partition}:`);
    expect(arns.filter((arn) => !fits(arn))).toEqual([]);
  });

  it("links to its own console", () => {
    const [link] = textsIn(template.findOutputs("Dashboard").Dashboard?.Value);
    expect(link).toBe(
      `https://${host}/cloudwatch/home?region=${region}#dashboards/dashboard/karpenter-node-holder-prod`,
    );
  });

  it("leaves out the recursion setting, which Lambda does not offer there", () => {
    expect(recursionIn(template)).toBeUndefined();
  });
});

it.each(["ap-southeast-6", "mx-central-1"])("leaves out the recursion setting in %s", (region) => {
  expect(recursionIn(templateIn(region))).toBeUndefined();
});

it("lets hold's follow-ups come back by its own queue where Lambda detects loops", () => {
  expect(recursionIn(templateIn("eu-central-1"))).toBe("Allow");
});

describe("in a region that is known only at deployment", () => {
  const template = templateIn();

  it("lets CloudFormation decide on the recursion setting", () => {
    const [condition] = Object.keys(template.findConditions("*"));
    expect(recursionIn(template)).toEqual({ "Fn::If": [condition, "Allow", { Ref: "AWS::NoValue" }] });
    const regions = ["ap-southeast-6", "mx-central-1"].map((one) => ({
      "Fn::Not": [{ "Fn::Equals": [{ Ref: "AWS::Region" }, one] }],
    }));
    const isCommercial = { "Fn::Equals": [{ Ref: "AWS::Partition" }, "aws"] };
    expect(Object.values(template.findConditions("*"))).toEqual([{ "Fn::And": [isCommercial, ...regions] }]);
  });

  it("looks up the console of the partition", () => {
    const link = JSON.stringify(template.findOutputs("Dashboard"));
    expect(link).toContain('{"Fn::FindInMap":["Console",{"Ref":"AWS::Partition"},"domain"]}');
    expect(JSON.stringify(template.findMappings("Console"))).toContain("console.amazonaws.cn");
  });
});
