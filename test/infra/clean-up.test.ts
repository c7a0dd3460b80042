import { Aspects, CfnResource, NestedStack, Stack } from "aws-cdk-lib";
import { Annotations, Match, Template } from "aws-cdk-lib/assertions";
import {
  AclCidr,
  AclTraffic,
  CfnSecurityGroupIngress,
  CfnVPCPeeringConnection,
  InterfaceVpcEndpointAwsService,
  type IVpc,
  NetworkAcl,
  Peer,
  Port,
  RouterType,
  SecurityGroup,
  Subnet,
  SubnetType,
  Vpc,
} from "aws-cdk-lib/aws-ec2";
import { CfnCluster } from "aws-cdk-lib/aws-eks";
import { Construct } from "constructs";
import { describe, expect, it } from "vitest";
import { templateKinds } from "../../cli/template/fill-in.ts";
import { type HolderVpc, KarpenterNodeHolder } from "../../infra/index.ts";
import { accessResource } from "../../lambda/cluster-access/template-names.ts";
import { synthesizeTemplate } from "../../scripts/templates.ts";
import { cleanUpNeeds } from "./clean-up-needs.ts";
import { everyResource, newApp, synthesize, synthesizeEverything, templateOf } from "./synthesized.ts";

const holderIn = (stack: Stack, vpc: HolderVpc) =>
  new KarpenterNodeHolder(stack, "Holder", { cluster: "prod", vpc });

/** A VPC of the stack, whose private subnets reach AWS by a NAT gateway. */
const vpcIn = (stack: Stack) => new Vpc(stack, "Vpc", { maxAzs: 2, natGateways: 1 }) as IVpc;

/** The security group of a cluster that is not in the stack. */
const clusterIn = (stack: Stack) =>
  SecurityGroup.fromSecurityGroupId(stack, "Cluster", "sg-0123456789abcdef0");

const attributes = {
  vpcId: "vpc-0123456789abcdef0",
  availabilityZones: ["eu-west-1a"],
  privateSubnetIds: ["subnet-0123456789abcdef0"],
};

const ingress = "AWS::EC2::SecurityGroupIngress";
const egress = "AWS::EC2::SecurityGroupEgress";
const wayOut = [
  "AWS::EC2::NatGateway",
  "AWS::EC2::Route",
  "AWS::EC2::SubnetRouteTableAssociation",
  "AWS::EC2::VPCGatewayAttachment",
];

type Case = Readonly<{ fill: (stack: Stack) => unknown; needs: readonly string[]; context?: object }>;

const networks: Readonly<Record<string, Case>> = {
  "ids, with nothing of the network in the stack": {
    fill: (stack) => holderIn(stack, { subnetIds: ["subnet-a"], securityGroupIds: ["sg-a"] }),
    needs: ["AWS::IAM::Policy", "AWS::IAM::Role", "AWS::Lambda::Function", "AWS::Logs::LogGroup"],
  },
  "a VPC of the stack with NAT": {
    fill: (stack) =>
      clusterIn(stack).connections.allowFrom(holderIn(stack, { vpc: vpcIn(stack) }), Port.HTTPS),
    needs: [...wayOut, ingress],
  },
  "ids of subnets and a security group of the stack": {
    fill: (stack) => {
      const vpc = vpcIn(stack);
      const { subnetIds } = vpc.selectSubnets({ subnetType: SubnetType.PRIVATE_WITH_EGRESS });
      const group = new SecurityGroup(stack, "Functions", { vpc });
      holderIn(stack, { subnetIds, securityGroupIds: [group.securityGroupId] });
      clusterIn(stack).connections.allowFrom(group, Port.HTTPS);
    },
    needs: [...wayOut, ingress],
  },
  "isolated subnets with endpoints": {
    fill: (stack) => {
      const subnets = { subnetType: SubnetType.PRIVATE_ISOLATED };
      const vpc = new Vpc(stack, "Vpc", { subnetConfiguration: [{ name: "inside", ...subnets }] }) as IVpc;
      const eks = vpc.addInterfaceEndpoint("Eks", {
        service: InterfaceVpcEndpointAwsService.EKS,
        open: false,
      });
      eks.connections.allowDefaultPortFrom(holderIn(stack, { vpc, subnets }));
    },
    needs: ["AWS::EC2::VPCEndpoint", "AWS::EC2::SubnetRouteTableAssociation", ingress],
  },
  "a security group that lets out what is named": {
    fill: (stack) => {
      const vpc = vpcIn(stack);
      const group = new SecurityGroup(stack, "Functions", { vpc, allowAllOutbound: false });
      holderIn(stack, { vpc, securityGroups: [group] });
      group.connections.allowTo(clusterIn(stack), Port.HTTPS);
      group.connections.allowToAnyIpv4(Port.HTTPS);
    },
    needs: [...wayOut, ingress, egress],
  },
  "no rule inside of a security group": {
    context: { "@aws-cdk/aws-ec2.securityGroupDisableInlineRules": true },
    fill: (stack) => holderIn(stack, { vpc: vpcIn(stack) }),
    needs: [...wayOut, egress],
  },
  "the cluster's security group named in the holder's props": {
    fill: (stack) => holderIn(stack, { vpc: vpcIn(stack), clusterSecurityGroups: [clusterIn(stack)] }),
    needs: [...wayOut, ingress],
  },
  "the cluster's security group named by its id": {
    fill: (stack) =>
      holderIn(stack, {
        subnetIds: ["subnet-a"],
        securityGroupIds: ["sg-a"],
        clusterSecurityGroupIds: ["sg-cluster"],
      }),
    needs: [ingress],
  },
  "a rule that names a security group by its resource": {
    fill: (stack) => {
      const [group] = holderIn(stack, { vpc: vpcIn(stack) }).connections.securityGroups;
      new CfnSecurityGroupIngress(stack, "Rule", {
        groupId: "sg-0123456789abcdef0",
        ipProtocol: "tcp",
        sourceSecurityGroupId: group?.securityGroupId ?? "",
      });
    },
    needs: [ingress],
  },
  "a rule by its type alone": {
    fill: (stack) => {
      const [group] = holderIn(stack, { vpc: vpcIn(stack) }).connections.securityGroups;
      const properties = { GroupId: "sg-0123456789abcdef0", SourceSecurityGroupId: group?.securityGroupId };
      new CfnResource(stack, "Rule", { type: ingress, properties });
    },
    needs: [ingress],
  },
  "a rule for addresses": {
    fill: (stack) => {
      const vpc = vpcIn(stack);
      holderIn(stack, { vpc });
      clusterIn(stack).addIngressRule(Peer.ipv4(vpc.vpcCidrBlock), Port.HTTPS);
    },
    needs: [ingress],
  },
  "a rule that an aspect adds": {
    fill: (stack) => {
      const cluster = clusterIn(stack);
      const holder = holderIn(stack, { vpc: vpcIn(stack) });
      Aspects.of(stack).add({
        visit: (node) => node === stack && cluster.connections.allowFrom(holder, Port.HTTPS),
      });
    },
    needs: [ingress],
  },
  "rules of its subnets and a route to another VPC": {
    fill: (stack) => {
      const vpc = vpcIn(stack);
      holderIn(stack, { vpc });
      const acl = new NetworkAcl(stack, "Acl", {
        vpc,
        subnetSelection: { subnetType: SubnetType.PRIVATE_WITH_EGRESS },
      });
      acl.addEntry("All", { cidr: AclCidr.anyIpv4(), ruleNumber: 100, traffic: AclTraffic.allTraffic() });
      const { ref: routerId } = new CfnVPCPeeringConnection(stack, "Peering", {
        vpcId: vpc.vpcId,
        peerVpcId: "vpc-0123456789abcdef0",
      });
      const destinationCidrBlock = "10.9.0.0/16";
      const route = { routerType: RouterType.VPC_PEERING_CONNECTION, routerId, destinationCidrBlock };
      for (const subnet of vpc.privateSubnets)
        if (subnet instanceof Subnet) subnet.addRoute("ToCluster", route);
    },
    needs: [
      "AWS::EC2::NetworkAclEntry",
      "AWS::EC2::SubnetNetworkAclAssociation",
      "AWS::EC2::VPCPeeringConnection",
    ],
  },
};

/** Warnings about rules, without the CDK's own about other things. */
const warningsOf = (stack: Stack) =>
  Annotations.fromStack(stack)
    .findWarning("*", Match.stringLikeRegexp("lets the functions in"))
    .map(({ entry }) => entry.data);

const tooEarly = (template: Template) => cleanUpNeeds(template).tooEarly;

/** AWS removes resources side by side, and at once what nothing depends on. */
describe("a destroy deletes nothing that the clean-up of the cluster still needs", () => {
  it("with only a cluster, and with every option", () => {
    for (const template of [synthesize(), synthesizeEverything()]) {
      expect(tooEarly(template)).toEqual([]);
      expect(cleanUpNeeds(template).types).toContain("AWS::IAM::Policy");
    }
  });

  it.each(templateKinds)("in the template %s for those without the CDK", (kind) => {
    expect(tooEarly(Template.fromJSON({ ...synthesizeTemplate(kind).template }))).toEqual([]);
  });

  it.each(Object.entries(networks))("with %s", (_, { fill, needs, context }) => {
    const template = templateOf(fill, context);
    expect(tooEarly(template)).toEqual([]);
    expect(cleanUpNeeds(template).types).toEqual(expect.arrayContaining([...needs]));
  });

  it("with a VPC of another stack, which is deleted after the holder's", () => {
    const app = newApp();
    const network = new Stack(app, "Network");
    const vpc = vpcIn(network);
    const stack = new Stack(app, "Test");
    holderIn(stack, { vpc });
    expect(tooEarly(Template.fromStack(stack))).toEqual([]);
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
    expect(tooEarly(template)).toEqual([]);
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
    for (const type of wayOut.filter((one) => !/Nat|Attachment/.test(one)))
      for (const id of Object.keys(around.findResources(type)).filter((one) => one.includes("Private")))
        expect(nested?.DependsOn).toContain(id);
    expect(tooEarly(Template.fromStack(inner))).toEqual([]);
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
    expect(tooEarly(Template.fromStack(stack))).toEqual([]);
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
    expect(tooEarly(template)).toEqual([]);
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
