import { Token } from "aws-cdk-lib";
import {
  Connections,
  type ISecurityGroup,
  type IVpc,
  Port,
  SecurityGroup,
  type SubnetSelection,
  SubnetType,
} from "aws-cdk-lib/aws-ec2";
import type { Construct } from "constructs";
import { NetworkPath } from "./network-path.ts";

/** Subnets and security groups by their ids. */
export interface HolderVpcIds {
  /** One subnet at least. */
  readonly subnetIds: readonly string[];
  /** One security group at least; the cluster must let it in on port 443. */
  readonly securityGroupIds: readonly string[];
  /** The cluster's security groups, which then let the functions in on port 443. Default: none: you let them in. */
  readonly clusterSecurityGroupIds?: readonly string[];
}

/** A VPC of the CDK. */
export interface HolderVpcObjects {
  /** The cluster's VPC, or one that reaches it. */
  readonly vpc: IVpc;
  /** Where the functions run. Default: private subnets with a way out. */
  readonly subnets?: SubnetSelection;
  /** What the cluster must let in on port 443. Default: one of the holder's own. */
  readonly securityGroups?: readonly ISecurityGroup[];
  /** The cluster's security groups, which then let the functions in on port 443. Default: none: you let them in. */
  readonly clusterSecurityGroups?: readonly ISecurityGroup[];
}

/** Where the functions reach a cluster whose endpoint is private. */
export type HolderVpc = HolderVpcIds | HolderVpcObjects;

/** Where the functions run, the security groups that the cluster must let in, and all that their traffic passes. */
export type Network = Readonly<{
  ids: HolderVpcIds;
  securityGroups: readonly ISecurityGroup[];
  path: NetworkPath;
}>;

export const hasIds = (vpc: HolderVpc): vpc is HolderVpcIds => "subnetIds" in vpc;

/** Finds subnets and security groups; creates a security group where none is given, and rules of the cluster's. */
export function networkOf(scope: Construct, vpc: HolderVpc): Network {
  return hasIds(vpc) ? networkOfIds(scope, vpc) : networkOfObjects(scope, vpc);
}

function networkOfIds(scope: Construct, ids: HolderVpcIds): Network {
  // Of a list by reference no item is known at synth.
  const known = Token.isUnresolved(ids.securityGroupIds) ? [] : ids.securityGroupIds;
  const securityGroups = known.map((id, i) =>
    SecurityGroup.fromSecurityGroupId(scope, `SecurityGroup${i + 1}`, id),
  );
  letIn(scope, securityGroups, ids.clusterSecurityGroupIds);
  return { ids, securityGroups, path: new NetworkPath(scope, securityGroups) };
}

function networkOfObjects(scope: Construct, vpc: HolderVpcObjects): Network {
  const { subnets = { subnetType: SubnetType.PRIVATE_WITH_EGRESS }, securityGroups = [] } = vpc;
  const groups =
    securityGroups.length > 0
      ? securityGroups
      : [
          new SecurityGroup(scope, "SecurityGroup", {
            vpc: vpc.vpc,
            description: "Functions of the node holder; the cluster must let them in on port 443",
          }),
        ];
  const clusterIds = vpc.clusterSecurityGroups?.map(({ securityGroupId }) => securityGroupId);
  letIn(scope, groups, clusterIds);
  const { subnetIds, internetConnectivityEstablished } = vpc.vpc.selectSubnets(subnets);
  const securityGroupIds = groups.map(({ securityGroupId }) => securityGroupId);
  const path = new NetworkPath(scope, groups, internetConnectivityEstablished);
  return { ids: { subnetIds, securityGroupIds }, securityGroups: groups, path };
}

/** The rules are the holder's own, so that its stack has them also where another one has the cluster. */
function letIn(
  scope: Construct,
  securityGroups: readonly ISecurityGroup[],
  clusterIds: readonly string[] = [],
): void {
  const functions = new Connections({ securityGroups: [...securityGroups] });
  for (const [i, id] of clusterIds.entries()) {
    const cluster = SecurityGroup.fromSecurityGroupId(scope, `ClusterSecurityGroup${i + 1}`, id);
    cluster.connections.allowFrom(functions, Port.tcp(443), "Functions of the node holder");
  }
}
