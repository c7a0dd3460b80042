import { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { SecurityGroup, SubnetType, Vpc } from "aws-cdk-lib/aws-ec2";
import { expect, it } from "vitest";
import { KarpenterNodeHolder } from "../../infra/index.ts";
import { functionIn, newApp } from "./synthesized.ts";

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
