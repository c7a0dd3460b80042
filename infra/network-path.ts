import { Annotations, Aspects, CfnResource, Stack } from "aws-cdk-lib";
import type { ISecurityGroup } from "aws-cdk-lib/aws-ec2";
import { type Construct, Dependable, type IConstruct, type IDependable } from "constructs";

/** What traffic passes on its way out of a subnet. What these refer to, like a gateway, is deleted after them anyway. */
const carriers: ReadonlySet<string> = new Set(
  [
    "Route",
    "SubnetRouteTableAssociation",
    "SubnetNetworkAclAssociation",
    "NetworkAclEntry",
    "VPCEndpoint",
    "VPCGatewayAttachment",
    "VPCCidrBlock",
    "VPCDHCPOptionsAssociation",
    "VPNGatewayRoutePropagation",
    "TransitGatewayAttachment",
    "TransitGatewayVpcAttachment",
    "TransitGatewayRoute",
    "TransitGatewayRouteTableAssociation",
    "TransitGatewayRouteTablePropagation",
  ].map((name) => `AWS::EC2::${name}`),
);

/** By type, the property of a rule that names the security group it is for. */
const rules: Readonly<Record<string, string>> = {
  "AWS::EC2::SecurityGroupIngress": "sourceSecurityGroupId",
  "AWS::EC2::SecurityGroupEgress": "groupId",
};

/**
 * All that the functions' traffic passes, as a dependency: it is there before the first call, and deleted after the last.
 * It is collected at synthesis, because an app may add rules and routes after the holder.
 */
export class NetworkPath implements IDependable {
  readonly #holder: Construct;
  readonly #groups: readonly ISecurityGroup[];

  constructor(holder: Construct, groups: readonly ISecurityGroup[], connectivity?: IDependable) {
    this.#holder = holder;
    this.#groups = groups;
    const created = () => this.#created();
    Dependable.implement(this, {
      get dependencyRoots(): IConstruct[] {
        return [...(connectivity ? Dependable.of(connectivity).dependencyRoots : []), ...created()];
      },
    });
    Aspects.of(holder).add({ visit: (node) => node === holder && this.#warnOfRulesElsewhere() });
  }

  /** What the holder's stack creates, and the stacks around a nested one; another stack outlives it anyway. */
  #created(): readonly CfnResource[] {
    const around = stacksAround(this.#holder);
    return resourcesBelow(around.at(-1)).filter(
      (resource) =>
        around.includes(Stack.of(resource)) &&
        (carriers.has(resource.cfnResourceType) || (this.#isForUs(resource) && !this.#isElsewhere(resource))),
    );
  }

  /** A rule for one of our security groups, which may be any, or for addresses, which may be ours. */
  #isForUs(resource: CfnResource): boolean {
    const property = rules[resource.cfnResourceType];
    if (property === undefined) return false;
    const stack = Stack.of(resource);
    const group = JSON.stringify(stack.resolve(Reflect.get(resource, property)));
    const ours = this.#groups.map(({ securityGroupId }) => JSON.stringify(stack.resolve(securityGroupId)));
    return group === undefined || ours.length === 0 || ours.includes(group);
  }

  /** A rule of another stack that refers to a security group of this one. This stack cannot depend on it. */
  #isElsewhere(resource: CfnResource): boolean {
    const own = Stack.of(this.#holder);
    const property = rules[resource.cfnResourceType] ?? "";
    const isNamed = Reflect.get(resource, property) !== undefined;
    return isNamed && Stack.of(resource) !== own && this.#groups.some((group) => Stack.of(group) === own);
  }

  #warnOfRulesElsewhere(): void {
    const found = resourcesBelow(this.#holder.node.root).filter(
      (resource) => this.#isForUs(resource) && this.#isElsewhere(resource),
    );
    for (const { node } of found)
      Annotations.of(this.#holder).addWarningV2(
        `karpenter-node-holder:rule-of-another-stack:${node.addr}`,
        `${node.path} lets the functions in, but its stack may be deleted before this one, which then cannot remove ` +
          "its marks and rights from the cluster: name the cluster's security group in vpc.clusterSecurityGroups instead",
      );
  }
}

/** The stack of a construct, and those around it if it is nested. */
function stacksAround(construct: Construct): readonly Stack[] {
  const found: Stack[] = [];
  for (let stack: Stack | undefined = Stack.of(construct); stack; stack = stack.nestedStackParent)
    found.push(stack);
  return found;
}

const resourcesBelow = (top: IConstruct | undefined): readonly CfnResource[] =>
  top?.node.findAll().filter((one) => CfnResource.isCfnResource(one)) ?? [];
