import { NestedStack, Stack } from "aws-cdk-lib";
import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import { Port, SecurityGroup, Vpc } from "aws-cdk-lib/aws-ec2";
import { CfnCluster } from "aws-cdk-lib/aws-eks";
import { Construct } from "constructs";
import { describe, expect, it } from "vitest";
import { templateKinds } from "../../cli/template/fill-in.ts";
import { accessResource } from "../../lambda/cluster-access/template-names.ts";
import { synthesizeTemplate } from "../../scripts/templates.ts";
import { clusterIn, holderIn, ingress, networks, vpcIn } from "./clean-up-networks.ts";
import { deletedTooEarly } from "./deleted-too-early.ts";
import {
  everyResource,
  newApp,
  resourcesOf,
  synthesize,
  synthesizeEverything,
  templateOf,
} from "./synthesized.ts";

const attributes = {
  vpcId: "vpc-0123456789abcdef0",
  availabilityZones: ["eu-west-1a"],
  privateSubnetIds: ["subnet-0123456789abcdef0"],
};

/** Warnings about rules, without the CDK's own about other things. */
const warningsOf = (stack: Stack) =>
  Annotations.fromStack(stack)
    .findWarning("*", Match.stringLikeRegexp("lets the functions in"))
    .map(({ entry }) => entry.data);

/** AWS removes resources side by side, and at once what nothing depends on. */
describe("a destroy deletes nothing that the clean-up of the cluster still needs", () => {
  it("with only a cluster, and with every option", () => {
    for (const template of [synthesize(), synthesizeEverything()])
      expect(deletedTooEarly(template)).toEqual([]);
  });

  it.each(templateKinds)("in the template %s for those without the CDK", (kind) => {
    expect(deletedTooEarly(Template.fromJSON({ ...synthesizeTemplate(kind).template }))).toEqual([]);
  });

  it.each(Object.entries(networks))("with %s", (_, { fill, shows, context }) => {
    const template = templateOf(fill, context);
    expect(resourcesOf(template, shows).size).toBeGreaterThan(0);
    expect(deletedTooEarly(template)).toEqual([]);
  });

  it("with a VPC of another stack, which is deleted after the holder's", () => {
    const app = newApp();
    const network = new Stack(app, "Network");
    const vpc = vpcIn(network);
    const stack = new Stack(app, "Test");
    holderIn(stack, { vpc });
    expect(deletedTooEarly(Template.fromStack(stack))).toEqual([]);
    expect(stack.dependencies).toEqual([network]);
  });

  it("with a cluster of the stack, once the holder depends on it", () => {
    const template = templateOf((stack) => {
      const vpc = vpcIn(stack);
      const cluster = new Construct(stack, "Cluster");
      const group = new SecurityGroup(cluster, "Group", { vpc });
      const resourcesVpcConfig = { subnetIds: [], securityGroupIds: [group.securityGroupId] };
      new CfnCluster(cluster, "Resource", { name: "prod", roleArn: "arn:role", resourcesVpcConfig });
      holderIn(stack, { vpc, clusterSecurityGroups: [group] }).node.addDependency(cluster);
    });
    expect(deletedTooEarly(template)).toEqual([]);
    const [access] = everyResource(template).filter(({ Type }) => Type === accessResource);
    expect(access?.DependsOn).toContainEqual(expect.stringMatching(/^Cluster[0-9A-F]{8}$/));
  });

  it("in a nested stack, with a VPC of the stack around it", () => {
    const outer = new Stack(newApp(), "Outer");
    const vpc = vpcIn(outer);
    const inner = new NestedStack(outer, "Inner");
    holderIn(inner, { vpc });
    const around = Template.fromStack(outer);
    const [nested] = everyResource(around).filter(({ Type }) => Type === "AWS::CloudFormation::Stack");
    for (const type of ["AWS::EC2::Route", "AWS::EC2::SubnetRouteTableAssociation"])
      for (const id of Object.keys(around.findResources(type)).filter((one) => one.includes("Private")))
        expect(nested?.DependsOn).toContain(id);
    expect(deletedTooEarly(Template.fromStack(inner))).toEqual([]);
  });
});

describe("a rule that lets the functions in", () => {
  it("from another stack, which may be deleted first, is reported with the prop to use instead", () => {
    const app = newApp();
    const vpc = { vpc: Vpc.fromVpcAttributes(new Stack(app, "Network"), "Vpc", attributes) };
    const clusters = new Stack(app, "Clusters");
    const stack = new Stack(app, "Test");
    const holder = holderIn(stack, vpc);

    clusterIn(clusters).connections.allowFrom(holder, Port.HTTPS);

    expect(warningsOf(stack)).toEqual([
      expect.stringMatching(/^Clusters\/Cluster\/from .* vpc\.clusterSecurityGroups instead/),
    ]);
    expect(deletedTooEarly(Template.fromStack(stack))).toEqual([]);
  });

  it("is in the holder's stack when the prop names a security group of another one", () => {
    const app = newApp();
    const clusters = new Stack(app, "Clusters");
    const vpc = vpcIn(clusters);
    const cluster = new SecurityGroup(clusters, "Cluster", { vpc });
    const stack = new Stack(app, "Test");
    holderIn(stack, { vpc, clusterSecurityGroups: [cluster] });
    const template = Template.fromStack(stack);
    template.hasResourceProperties(ingress, { FromPort: 443, ToPort: 443, IpProtocol: "tcp" });
    expect(deletedTooEarly(template)).toEqual([]);
    expect(warningsOf(stack)).toEqual([]);
    expect(stack.dependencies).toEqual([clusters]);
  });

  it("from the stack around a nested one is reported, too: the nested stack cannot depend on it", () => {
    const outer = new Stack(newApp(), "Outer");
    const inner = new NestedStack(outer, "Inner");
    const holder = holderIn(inner, { vpc: vpcIn(outer) });
    clusterIn(outer).connections.allowFrom(holder, Port.HTTPS);
    const { Resources } = Template.fromStack(outer).toJSON();
    const [rule = ""] = Object.keys(Resources).filter((id) => Resources[id].Type === ingress);
    const [nested] = everyResource(Template.fromStack(outer)).filter(({ Type }) => /::Stack$/.test(Type));
    expect(rule).not.toBe("");
    expect(nested?.DependsOn).not.toContain(rule);
    expect(warningsOf(outer)).toHaveLength(1);
  });
});
