import { Fn, Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { CfnSecurityGroupIngress, SecurityGroup, SubnetType, Vpc } from "aws-cdk-lib/aws-ec2";
import { expect, it } from "vitest";
import { type HolderVpcIds, KarpenterNodeHolder } from "../../infra/index.ts";
import { adminRightResource } from "../../lambda/cluster-access/template-names.ts";
import { deletedTooEarly } from "./deleted-too-early.ts";
import { functionIn, newApp, resourcesOf, templateOf } from "./synthesized.ts";

it("has the functions in the subnets and security groups of a VPC of the CDK that are chosen", () => {
  const stack = new Stack(newApp(), "Mine");
  const vpc = Vpc.fromVpcAttributes(stack, "Vpc", {
    vpcId: "vpc-1",
    availabilityZones: ["eu-west-1a", "eu-west-1b"],
    privateSubnetIds: ["subnet-private-a", "subnet-private-b"],
    isolatedSubnetIds: ["subnet-isolated-a", "subnet-isolated-b"],
  });
  const subnets = { subnetType: SubnetType.PRIVATE_ISOLATED };
  const securityGroups = [SecurityGroup.fromSecurityGroupId(stack, "Group", "sg-mine")];
  new KarpenterNodeHolder(stack, "Holder", { cluster: "prod", vpc: { vpc, subnets, securityGroups } });
  const template = Template.fromStack(stack);
  template.resourceCountIs("AWS::EC2::SecurityGroup", 0);
  expect(functionIn(template, "hold")?.VpcConfig).toEqual({
    SubnetIds: ["subnet-isolated-a", "subnet-isolated-b"],
    SecurityGroupIds: ["sg-mine"],
  });
});

it("has them in those of a list by reference, whose way out may be by any rule of the stack", () => {
  const groups = Fn.split(",", Fn.importValue("groups"));
  const ids = { subnetIds: Fn.split(",", Fn.importValue("subnets")), securityGroupIds: groups };
  const build = (vpc: HolderVpcIds) =>
    templateOf((stack) => {
      const rule = { ipProtocol: "tcp", groupId: "sg-cluster", sourceSecurityGroupId: "sg-functions" };
      new CfnSecurityGroupIngress(stack, "Rule", rule);
      new KarpenterNodeHolder(stack, "Holder", { cluster: "prod", alarms: "none", vpc });
    });
  const template = build(ids);
  expect(functionIn(template, "hold")?.VpcConfig).toMatchObject({
    SecurityGroupIds: { "Fn::Split": [",", { "Fn::ImportValue": "groups" }] },
  });
  expect(deletedTooEarly(template)).toEqual([]);
  const [adminRight] = resourcesOf(template, adminRightResource).values();
  expect(adminRight?.DependsOn).toContain("Rule");
  for (const vpc of [
    { ...ids, clusterSecurityGroupIds: ["sg-cluster"] },
    { ...ids, securityGroupIds: ["sg-functions"], clusterSecurityGroupIds: groups },
  ])
    expect(() => build(vpc)).toThrow(/vpc must be .* no list by reference beside clusterSecurityGroupIds/);
});
