import { Aspects, type Stack } from "aws-cdk-lib";
import {
  AclCidr,
  AclTraffic,
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
import { type HolderVpc, KarpenterNodeHolder } from "../../infra/index.ts";

export const holderIn = (stack: Stack, vpc: HolderVpc) =>
  new KarpenterNodeHolder(stack, "Holder", { cluster: "prod", vpc });

/** A VPC of the stack, whose private subnets reach AWS by a NAT gateway. */
export const vpcIn = (stack: Stack) => new Vpc(stack, "Vpc", { maxAzs: 2, natGateways: 1 }) as IVpc;

/** The security group of a cluster that is not in the stack. */
export const clusterIn = (stack: Stack) =>
  SecurityGroup.fromSecurityGroupId(stack, "Cluster", "sg-0123456789abcdef0");

export const ingress = "AWS::EC2::SecurityGroupIngress";

/** A network, and the type of what it has and the others have not all. */
type Case = Readonly<{ fill: (stack: Stack) => unknown; shows: string; context?: object }>;

export const networks: Readonly<Record<string, Case>> = {
  "a VPC of the stack with NAT": {
    fill: (stack) =>
      clusterIn(stack).connections.allowFrom(holderIn(stack, { vpc: vpcIn(stack) }), Port.HTTPS),
    shows: "AWS::EC2::NatGateway",
  },
  "ids of subnets and a security group of the stack": {
    fill: (stack) => {
      const vpc = vpcIn(stack);
      const { subnetIds } = vpc.selectSubnets({ subnetType: SubnetType.PRIVATE_WITH_EGRESS });
      const group = new SecurityGroup(stack, "Functions", { vpc });
      holderIn(stack, { subnetIds, securityGroupIds: [group.securityGroupId] });
      clusterIn(stack).connections.allowFrom(group, Port.HTTPS);
    },
    shows: ingress,
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
    shows: "AWS::EC2::VPCEndpoint",
  },
  "no rule inside of a security group": {
    context: { "@aws-cdk/aws-ec2.securityGroupDisableInlineRules": true },
    fill: (stack) => holderIn(stack, { vpc: vpcIn(stack) }),
    shows: "AWS::EC2::SecurityGroupEgress",
  },
  "a rule for addresses": {
    fill: (stack) => {
      const vpc = vpcIn(stack);
      holderIn(stack, { vpc });
      clusterIn(stack).addIngressRule(Peer.ipv4(vpc.vpcCidrBlock), Port.HTTPS);
    },
    shows: ingress,
  },
  "a rule that an aspect adds": {
    fill: (stack) => {
      const cluster = clusterIn(stack);
      const holder = holderIn(stack, { vpc: vpcIn(stack) });
      Aspects.of(stack).add({
        visit: (node) => node === stack && cluster.connections.allowFrom(holder, Port.HTTPS),
      });
    },
    shows: ingress,
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
    shows: "AWS::EC2::NetworkAclEntry",
  },
};
