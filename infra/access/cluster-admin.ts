import { Duration, Lazy, RemovalPolicy, Stack } from "aws-cdk-lib";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnFunction } from "aws-cdk-lib/aws-lambda";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Provider } from "aws-cdk-lib/custom-resources";
import { Construct } from "constructs";
import { AccessEnvironment } from "../../lambda/cluster-access/template-names.ts";
import { formatDuration } from "../../lambda/core/duration.ts";
import { holderName } from "../../lambda/core/marks/keys.ts";
import { monitoringVariable, SettingEnvironment, vpcVariable } from "../../lambda/environment.ts";
import { acknowledgeWildcard } from "../acknowledge.ts";
import { HolderFunction, runtime } from "../functions/holder-function.ts";
import type { Plan } from "../settings/plan.ts";

const adminPolicy = "AmazonEKSClusterAdminPolicy";

type ClusterAdminProps = Readonly<{ plan: Plan; clusterArn: string }>;
type Target = Readonly<{ cluster: string; clusterArn: string; rolePath: string }>;

/** The function that writes our rights into the cluster; it alone can make itself an admin, and only there. */
export class ClusterAdmin extends Construct {
  /** Where CloudFormation sends its requests. */
  readonly serviceToken: string;
  /** The roles that it lets into the cluster. */
  readonly roleArns: string[] = [];
  private readonly admin: HolderFunction;
  private readonly target: Target;
  private readonly admitting: Readonly<Record<"create" | "update" | "remove", PolicyStatement>>;

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
        [SettingEnvironment.nodeEvents]: String(plan.settings.nodeEvents),
        [AccessEnvironment.roles]: Lazy.string({ produce: () => this.roleArns.join(",") }),
        ...(plan.name !== plan.settings.cluster && { [AccessEnvironment.name]: plan.name }),
        ...(plan.vpc && { [vpcVariable]: "true" }),
        ...(plan.monitoring !== "full" && { [monitoringVariable]: plan.monitoring }),
      },
      logRetention: plan.logRetention,
      vpc: plan.vpc,
    });
    admin.fn.addEnvironment(AccessEnvironment.adminRole, admin.role.roleArn);
    this.admin = admin;
    this.target = { cluster: plan.settings.cluster, clusterArn, rolePath: plan.rolePath };
    allowBecomingAdmin(admin, this.target);
    // One of each for all roles: a policy of each role's own would be longer than IAM allows.
    const limits = { ...onlyFrom(admin), ...asMember(Stack.of(this).partition) };
    this.admitting = {
      create: allow("eks:CreateAccessEntry", limits),
      update: allow("eks:UpdateAccessEntry", limits),
      remove: allow("eks:DeleteAccessEntry", onlyFrom(admin)),
    };
    this.admitting.create.addResources(clusterArn);
    const principals = Lazy.list({ produce: () => [admin.role.roleArn, ...this.roleArns] });
    this.admitting.create.addCondition("StringEquals", { "eks:principalArn": principals });
    for (const statement of Object.values(this.admitting)) admin.role.addToPolicy(statement);
    this.allowAdmitting(admin.role);
    this.serviceToken = this.provider(admin, plan).serviceToken;
  }

  /** Has the function let this role into the cluster, in our group only; it may do so, and delete the entry again. */
  admit(role: Role): void {
    this.roleArns.push(role.roleArn);
    this.allowAdmitting(role);
  }

  private allowAdmitting(role: Role): void {
    const { role: admin } = this.admin;
    for (const entry of accessEntryArns(this, this.target, role)) {
      this.admitting.update.addResources(entry);
      this.admitting.remove.addResources(entry);
      acknowledgeWildcard(admin, entry, "an access entry's ARN ends in an id that EKS makes");
    }
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

const allow = (action: string, conditions: Record<string, object>): PolicyStatement =>
  new PolicyStatement({ actions: [action], conditions });

/** Calls that one function itself makes. */
const onlyFrom = (fn: HolderFunction) => ({ ArnEquals: { "lambda:SourceFunctionArn": fn.arn } });

function allowBecomingAdmin(admin: HolderFunction, target: Target): void {
  const { clusterArn } = target;
  const entries = accessEntryArns(admin, target, admin.role);
  const policyArn = `arn:${Stack.of(admin).partition}:eks::aws:cluster-access-policy/${adminPolicy}`;
  admin.may({
    actions: ["eks:DescribeCluster"],
    resources: [clusterArn],
    conditions: onlyFrom(admin),
  });
  admin.may({
    actions: ["eks:AssociateAccessPolicy"],
    resources: entries,
    conditions: {
      ...onlyFrom(admin),
      StringEquals: { "eks:policyArn": policyArn, "eks:accessScope": "cluster" },
    },
  });
  // Giving up a right needs no limit.
  admin.may({
    actions: ["eks:DisassociateAccessPolicy"],
    resources: entries,
    conditions: onlyFrom(admin),
  });
}

/** In our group, as an ordinary entry, in the name that EKS gives to a role; whether it passes that name on is not documented. */
const asMember = (partition: string) => ({
  "ForAllValues:StringEquals": { "eks:kubernetesGroups": [holderName] },
  StringEqualsIfExists: { "eks:accessEntryType": "STANDARD" },
  StringLikeIfExists: { "eks:username": `arn:${partition}:sts::*:assumed-role/*` },
});

/** AWS documents an entry's ARN with the name of its role; it may contain the role's path, too. */
const accessEntryArns = (scope: Construct, { cluster, rolePath }: Target, { roleName }: Role): string[] => {
  const { account } = Stack.of(scope);
  return ["/", ...(rolePath ? [rolePath] : [])].map((path) =>
    Stack.of(scope).formatArn({
      service: "eks",
      resource: "access-entry",
      resourceName: `${cluster}/role/${account}${path}${roleName}/*`,
    }),
  );
};
