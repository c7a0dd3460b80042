import { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { CfnCluster, Cluster as OlderCluster } from "aws-cdk-lib/aws-eks";
import { Cluster, KubernetesVersion } from "aws-cdk-lib/aws-eks-v2";
import { describe, expect, it } from "vitest";
import { KarpenterNodeHolder, type KarpenterNodeHolderProps } from "../../infra/index.ts";
import { deletedTooEarly } from "./deleted-too-early.ts";
import { everyResource, functionIn, newApp, resourcesOf } from "./synthesized.ts";

const version = KubernetesVersion.V1_34;
const build = (props: (stack: Stack) => KarpenterNodeHolderProps) => {
  const stack = new Stack(newApp(), "Platform");
  const holder = new KarpenterNodeHolder(stack, "Holder", props(stack));
  return { stack, holder, template: () => Template.fromStack(stack) };
};
const jsonOf = (props: (stack: Stack) => KarpenterNodeHolderProps) => build(props).template().toJSON();
const named = (stack: Stack) => new Cluster(stack, "Cluster", { version, clusterName: "prod" });
const generated = (stack: Stack) => new Cluster(stack, "Cluster", { version });

describe("a cluster of the same app", () => {
  const { template: synthesized, holder } = build((stack) => ({ cluster: named(stack) }));
  const template = synthesized();
  const reference = { Ref: expect.stringMatching(/^Cluster/) };

  it("gives the holder's resources its own name, and the functions a reference", () => {
    expect(holder.name).toBe("prod");
    expect(Object(functionIn(template, "hold")?.Environment).Variables.CLUSTER).toEqual(reference);
    const alarms = [...resourcesOf(template, "AWS::CloudWatch::Alarm").values()];
    const dimensions = alarms.flatMap(({ Properties }) => Object(Properties.Dimensions ?? []));
    expect(dimensions).toContainEqual({ Name: "Cluster", Value: reference });
    expect(alarms.map(({ Properties }) => String(Properties.AlarmName))).toContain(
      "karpenter-node-holder-prod-sweep-silent",
    );
    for (const { Properties } of alarms)
      expect(Properties.AlarmDescription).toContain(" --cluster prod. See ");
  });

  it("is installed before the holder's rights, and deleted after them", () => {
    const [installed] = resourcesOf(template, "Custom::KarpenterNodeHolderAccess").values();
    expect(installed?.Properties.cluster).toEqual(reference);
    expect(deletedTooEarly(template)).toEqual([]);
  });

  it("leaves no reference in a name or a logical id", () => {
    const keys: Record<string, string> = {
      ...{ "AWS::Lambda::Function": "FunctionName", "AWS::Logs::LogGroup": "LogGroupName" },
      ...{ "AWS::CloudWatch::Alarm": "AlarmName", "AWS::CloudWatch::Dashboard": "DashboardName" },
    };
    const names = everyResource(template).map(({ Type, Properties }) => Object(Properties)[keys[Type] ?? ""]);
    expect(names.filter((name) => name !== undefined && typeof name !== "string")).toEqual([]);
    expect(Object.keys(template.toJSON().Resources).join()).not.toMatch(/token/i);
  });

  it.each<[what: string, cluster: (stack: Stack) => KarpenterNodeHolderProps["cluster"]]>([
    ["a generated name", generated],
    ["the name of a resource", (stack) => ({ clusterName: new CfnCluster(stack, "C", eks).ref })],
    ["a token as text", (stack) => new CfnCluster(stack, "C", eks).ref],
  ])("needs a name for the holder where it has %s", (_, cluster) => {
    expect(() => build((stack) => ({ cluster: cluster(stack) }))).toThrow(
      "These settings of Platform/Holder cannot be used: name is missing: the cluster's name is not known at synth",
    );
    const { template, holder } = build((stack) => ({ cluster: cluster(stack), name: "blue" }));
    expect(holder.name).toBe("blue");
    const [hold] = [...resourcesOf(template(), "AWS::Lambda::Function").values()].filter(
      ({ Properties }) => Properties.FunctionName === "karpenter-node-holder-blue-hold",
    );
    expect(Object(hold?.Properties.Environment).Variables.CLUSTER).toEqual({ Ref: expect.any(String) });
    expect(JSON.stringify(template())).toContain('"HOLDER_NAME":"blue"');
  });

  it("has one holder", () => {
    const { stack } = build((stack) => ({ cluster: generated(stack), name: "blue" }));
    const cluster = stack.node.findChild("Cluster") as Cluster;
    const other = new CfnCluster(stack, "Other", eks).ref;
    for (const [id, props] of Object.entries({
      Same: { cluster, name: "green" },
      Other2: { cluster: other, name: "blue" },
    }))
      expect(() => new KarpenterNodeHolder(stack, id, props)).toThrow(
        "already has a holder at Platform/Holder",
      );
  });
});

const eks = {
  roleArn: "arn:aws:iam::111122223333:role/eks",
  resourcesVpcConfig: { subnetIds: ["subnet-1"] },
};

it("takes an imported cluster, of either library, like its name", () => {
  for (const library of [Cluster, OlderCluster]) {
    const imported = (stack: Stack) =>
      library.fromClusterAttributes(stack, "Cluster", { clusterName: "prod" });
    expect(jsonOf((stack) => ({ cluster: imported(stack) }))).toEqual(jsonOf(() => ({ cluster: "prod" })));
  }
});

it("refuses a name or a cluster that is none", () => {
  const wrong = (props: object) =>
    expect(() => build(() => ({ cluster: "prod", ...props }) as KarpenterNodeHolderProps));
  wrong({ name: "a/b" }).toThrow("name must be");
  wrong({ cluster: "a/b" }).toThrow("cluster must be");
  wrong({ cluster: "a/b", name: "a" }).toThrow("cluster must be");
  wrong({ cluster: {} }).toThrow("cluster must be text or a cluster of the CDK");
  wrong({ cluster: undefined }).toThrow("cluster is missing");
});
