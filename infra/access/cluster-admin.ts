import { Duration, Lazy, RemovalPolicy, Stack } from "aws-cdk-lib";
import { Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnFunction } from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Provider } from "aws-cdk-lib/custom-resources";
import { Construct } from "constructs";
import { AccessEnvironment } from "../../lambda/cluster-access/template-names.ts";
import { formatDuration } from "../../lambda/core/duration.ts";
import { holderName } from "../../lambda/core/marks/keys.ts";
import { SettingEnvironment, vpcVariable } from "../../lambda/environment.ts";
import { acknowledgeWildcard } from "../acknowledge.ts";
import { HolderFunction, runtime } from "../functions/holder-function.ts";
import type { Plan } from "../settings/plan.ts";

const adminPolicy = "AmazonEKSClusterAdminPolicy";

type ClusterAdminProps = Readonly<{ plan: Plan; clusterArn: string }>;
type Target = Readonly<{ cluster: string; clusterArn: string }>;

/** The function that writes our rights into the cluster; it alone can make itself an admin, and only there. */
export class ClusterAdmin extends Construct {
  /** Where CloudFormation sends its requests. */
  readonly serviceToken: string;
  /** The roles that it lets into the cluster. */
  readonly roleArns: string[] = [];
  private readonly admin: HolderFunction;
  private readonly target: Target;

  constructor(scope: Construct, id: string, { plan, clusterArn }: ClusterAdminProps) {
    super(scope, id);
    const admin = new HolderFunction(this, "Function", {
      name: plan.name,
      part: "cluster-access",
      description: "Installs and removes the node holder's rights in the cluster",
      timeout: Duration.minutes(14),
      environment: {
        [SettingEnvironment.cluster]: plan.settings.cluster,
        [SettingEnvironment.holdAnnotation]: plan.settings.holdAnnotation,
        [SettingEnvironment.mode]: plan.settings.mode,
        [SettingEnvironment.hold]: plan.settings.auto ? "auto" : formatDuration(plan.settings.hold),
        [AccessEnvironment.roles]: Lazy.string({ produce: () => this.roleArns.join(",") }),
        ...(plan.vpc && { [vpcVariable]: "true" }),
      },
      logRetention: plan.logRetention,
      vpc: plan.vpc,
    });
    admin.fn.addEnvironment(AccessEnvironment.adminRole, admin.role.roleArn);
    this.admin = admin;
    this.target = { cluster: plan.settings.cluster, clusterArn };
    allowBecomingAdmin(admin, this.target);
    allowAdmitting(admin, admin.role, this.target);
    this.serviceToken = this.provider(admin, plan).serviceToken;
  }

  /** Has the function let this role into the cluster, in our group only; it may do so, and delete the entry again. */
  admit(role: Role): void {
    this.roleArns.push(role.roleArn);
    allowAdmitting(this.admin, role, this.target);
  }

  // CDK's provider answers CloudFormation even when the function itself cannot, and from outside of a VPC.
  private provider(admin: HolderFunction, plan: Plan): Provider {
    const logGroup = new LogGroup(this, "ProviderLogs", {
      retention: plan.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    // The role that CDK makes may create log groups: a late log line would bring this one back after a destroy.
    const role = new Role(this, "ProviderRole", { assumedBy: new ServicePrincipal("lambda.amazonaws.com") });
    logGroup.grantWrite(role);
    const provider = new Provider(this, "Provider", {
      onEventHandler: admin.fn,
      frameworkOnEventRole: role,
      logGroup,
    });
    // A CDK of 2025 chooses a runtime with which Lambda creates no function any more.
    for (const { defaultChild } of provider.node.children.map(({ node }) => node))
      if (defaultChild instanceof CfnFunction) defaultChild.runtime = runtime.name;
    acknowledgeWildcard(role, `${admin.fn.functionArn}:*`, "CDK's provider asks for every version of it");
    return provider;
  }
}

/** Calls that one function itself makes. */
const onlyFrom = (fn: HolderFunction) => ({ ArnEquals: { "lambda:SourceFunctionArn": fn.arn } });

function allowBecomingAdmin(admin: HolderFunction, { cluster, clusterArn }: Target): void {
  const entry = accessEntryArn(admin, cluster, admin.role);
  const policyArn = `arn:${Stack.of(admin).partition}:eks::aws:cluster-access-policy/${adminPolicy}`;
  admin.may({
    actions: ["eks:DescribeCluster"],
    resources: [clusterArn],
    conditions: onlyFrom(admin),
  });
  admin.may({
    actions: ["eks:AssociateAccessPolicy"],
    resources: [entry],
    conditions: {
      ...onlyFrom(admin),
      StringEquals: { "eks:policyArn": policyArn, "eks:accessScope": "cluster" },
    },
  });
  // Giving up a right needs no limit.
  admin.may({
    actions: ["eks:DisassociateAccessPolicy"],
    resources: [entry],
    conditions: onlyFrom(admin),
  });
}

function allowAdmitting(admin: HolderFunction, role: Role, { cluster, clusterArn }: Target): void {
  const entry = accessEntryArn(admin, cluster, role);
  admin.may({
    actions: ["eks:CreateAccessEntry"],
    resources: [clusterArn],
    conditions: {
      ...onlyFrom(admin),
      StringEquals: { "eks:principalArn": role.roleArn },
      "ForAllValues:StringEquals": { "eks:kubernetesGroups": [holderName] },
    },
  });
  admin.may({
    actions: ["eks:UpdateAccessEntry", "eks:DeleteAccessEntry"],
    resources: [entry],
    conditions: onlyFrom(admin),
  });
  acknowledgeWildcard(admin.role, entry, "an access entry's ARN ends in an id that EKS makes");
}

const accessEntryArn = (scope: Construct, cluster: string, { roleName }: Role): string =>
  Stack.of(scope).formatArn({
    service: "eks",
    resource: "access-entry",
    resourceName: `${cluster}/role/${Stack.of(scope).account}/${roleName}/*`,
  });
