import { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";
import { Port, SecurityGroup, SubnetType, Vpc } from "aws-cdk-lib/aws-ec2";
import { describe, expect, it } from "vitest";
import { type HolderVpcObjects, KarpenterNodeHolder } from "../../infra/index.ts";
import { functionIn, newApp, resourcesOf, synthesizeEverything } from "./synthesized.ts";

it("puts all functions that call a private cluster into its network, and answers CloudFormation from outside", () => {
  const functions = [...resourcesOf(synthesizeEverything(), "AWS::Lambda::Function").values()];
  const inside = functions.filter(({ Properties }) => "VpcConfig" in Properties);
  const network = { SubnetIds: ["subnet-0123456789abcdef0"], SecurityGroupIds: ["sg-0123456789abcdef0"] };
  expect(inside.map(({ Properties }) => Properties.VpcConfig)).toEqual(Array(5).fill(network));
  const outside = functions.filter((one) => !inside.includes(one));
  expect(outside).toMatchObject([{ Properties: { Handler: "framework.onEvent" } }]);
});

describe("a VPC of the CDK", () => {
  const own = (stack: Stack) =>
    Vpc.fromVpcAttributes(stack, "Vpc", {
      vpcId: "vpc-1",
      availabilityZones: ["eu-west-1a", "eu-west-1b"],
      privateSubnetIds: ["subnet-private-a", "subnet-private-b"],
      isolatedSubnetIds: ["subnet-isolated-a", "subnet-isolated-b"],
    });
  const build = (props: (stack: Stack) => Omit<HolderVpcObjects, "vpc">) => {
    const stack = new Stack(newApp(), "Mine");
    const vpc = { vpc: own(stack), ...props(stack) };
    const holder = new KarpenterNodeHolder(stack, "Holder", { cluster: "prod", vpc });
    const template = () => Template.fromStack(stack);
    return { holder, stack, template };
  };
  const networkOfHold = (template: Template) => functionIn(template, "hold")?.VpcConfig;

  it("has the functions in its private subnets, with a security group that the cluster can let in", () => {
    const { holder, stack, template } = build(() => ({}));
    const cluster = SecurityGroup.fromSecurityGroupId(stack, "Cluster", "sg-cluster");
    cluster.connections.allowFrom(holder, Port.tcp(443));
    const made = template();
    made.hasResourceProperties("AWS::EC2::SecurityGroup", {
      GroupDescription: "Functions of the node holder; the cluster must let them in on port 443",
    });
    const [group] = resourcesOf(made, "AWS::EC2::SecurityGroup").keys();
    expect(networkOfHold(made)).toEqual({
      SubnetIds: ["subnet-private-a", "subnet-private-b"],
      SecurityGroupIds: [{ "Fn::GetAtt": [group, "GroupId"] }],
    });
    made.hasResourceProperties("AWS::EC2::SecurityGroupIngress", {
      FromPort: 443,
      GroupId: "sg-cluster",
      SourceSecurityGroupId: { "Fn::GetAtt": [group, "GroupId"] },
    });
  });

  it("has them in the subnets and security groups chosen", () => {
    const { template } = build((stack) => ({
      subnets: { subnetType: SubnetType.PRIVATE_ISOLATED },
      securityGroups: [SecurityGroup.fromSecurityGroupId(stack, "Mine", "sg-mine")],
    }));
    const made = template();
    made.resourceCountIs("AWS::EC2::SecurityGroup", 0);
    expect(networkOfHold(made)).toEqual({
      SubnetIds: ["subnet-isolated-a", "subnet-isolated-b"],
      SecurityGroupIds: ["sg-mine"],
    });
  });
});
