import type { Template } from "aws-cdk-lib/assertions";
import { accessResource, adminRightResource } from "../../lambda/cluster-access/template-names.ts";
import {
  dependenciesOf,
  idsOf,
  isSame,
  type Resources,
  referencesIn,
  shares,
  type Value,
} from "./template-graph.ts";

/** What a clean-up of the cluster needs until it is done: the types of these resources, and those that go too early. */
export type CleanUpNeeds = Readonly<{ types: readonly string[]; tooEarly: readonly string[] }>;

/**
 * CloudFormation deletes at once what nothing depends on, and all of that side by side. So what a custom resource needs
 * for its clean-up is there only if the custom resource depends on it.
 */
export function cleanUpNeeds(template: Template): CleanUpNeeds {
  const resources: Resources = template.toJSON().Resources;
  const cleaners = idsOf(resources, (type) => [accessResource, adminRightResource].includes(type));
  for (const id of Object.keys(resources))
    if (dependenciesOf(resources, id).has(id)) throw new Error(`${id} depends on itself`);
  const types = new Set<string>();
  const tooEarly: string[] = [];
  for (const cleaner of cleaners) {
    const after = dependenciesOf(resources, cleaner);
    for (const [id, why] of neededBy(resources, cleaner)) {
      types.add(resources[id]?.Type ?? "");
      if (!after.has(id))
        tooEarly.push(`${cleaner} needs ${id} (${resources[id]?.Type}), ${why}, and does not depend on it`);
    }
  }
  return { types: [...types].sort(), tooEarly };
}

/** The resources without which the function of a custom resource does not run, or does not reach EKS and the cluster. */
function neededBy(resources: Resources, cleaner: string): ReadonlyMap<string, string> {
  const needed = new Map<string, string>();
  const all = (type: string, why: string, fits: (properties: Readonly<Record<string, Value>>) => boolean) => {
    const found = idsOf(resources, (one, properties) => one === type && fits(properties));
    for (const id of found) needed.set(id, why);
    return found.map((id) => resources[id]?.Properties ?? {});
  };

  for (const fn of functionsOf(resources, cleaner)) {
    const { Role, LoggingConfig, VpcConfig } = resources[fn]?.Properties ?? {};
    needed.set(fn, "which does the clean-up");
    for (const id of referencesIn(Role)) needed.set(id, "the role of that function");
    all("AWS::IAM::Policy", "the rights of that function", ({ Roles }) => shares(Roles, Role));
    for (const id of referencesIn(LoggingConfig)) needed.set(id, "the log of that function");
    if (!VpcConfig) continue;

    const { SubnetIds = [], SecurityGroupIds = [] } = Object(VpcConfig);
    const isOurs = (group: Value) => [SecurityGroupIds].flat().some((one) => isSame(one, group));
    for (const id of referencesIn(SecurityGroupIds)) needed.set(id, "the security group of that function");
    const letsIn = "which lets that function in";
    all("AWS::EC2::SecurityGroupIngress", letsIn, ({ SourceSecurityGroupId: source }) =>
      source === undefined ? true : isOurs(source),
    );
    all("AWS::EC2::SecurityGroupEgress", "which lets that function out", ({ GroupId }) => isOurs(GroupId));
    all("AWS::EC2::VPCEndpoint", "an endpoint for that function", () => true);

    // From subnet to subnet: a NAT gateway stands in another one.
    const subnets: Value[] = [SubnetIds].flat();
    for (const [i, subnet] of subnets.entries()) {
      if (subnets.findIndex((one) => isSame(one, subnet)) < i) continue;
      const ofSubnet = ({ SubnetId }: Readonly<Record<string, Value>>) => isSame(SubnetId, subnet);
      const [vpc] = referencesIn(subnet).map((id) => resources[id]?.Properties?.VpcId);
      all("AWS::EC2::VPCGatewayAttachment", "on the way out of the VPC", ({ VpcId }) => isSame(VpcId, vpc));
      const peering = "AWS::EC2::VPCPeeringConnection";
      all(peering, "on the way to another VPC", (one) =>
        [one.VpcId, one.PeerVpcId].some((id) => isSame(id, vpc)),
      );
      for (const { NetworkAclId } of all(
        "AWS::EC2::SubnetNetworkAclAssociation",
        "which chooses the rules of that function's subnet",
        ofSubnet,
      ))
        all("AWS::EC2::NetworkAclEntry", "a rule of that function's subnet", (one) =>
          isSame(one.NetworkAclId, NetworkAclId),
        );
      for (const { RouteTableId } of all(
        "AWS::EC2::SubnetRouteTableAssociation",
        "which chooses the routes of that function's subnet",
        ofSubnet,
      ))
        for (const route of all("AWS::EC2::Route", "on the way out of the subnet", (one) =>
          isSame(one.RouteTableId, RouteTableId),
        ))
          for (const id of referencesIn(route)) {
            needed.set(id, "on the way out of the subnet");
            if (resources[id]?.Type === "AWS::EC2::NatGateway")
              subnets.push(resources[id]?.Properties?.SubnetId);
          }
    }
  }
  return needed;
}

/** The function that CloudFormation calls, and the one that this calls. */
function functionsOf(resources: Resources, cleaner: string): readonly string[] {
  const isFunction = (id: string) => resources[id]?.Type === "AWS::Lambda::Function";
  const called = referencesIn(resources[cleaner]?.Properties?.ServiceToken).filter(isFunction);
  const behind = called
    .flatMap((id) => referencesIn(resources[id]?.Properties?.Environment))
    .filter(isFunction);
  return [...called, ...behind];
}
