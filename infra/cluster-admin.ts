import { Duration, Lazy, RemovalPolicy, Stack } from "aws-cdk-lib";
import { LogGroup } from "aws-cdk-lib/aws-logs";
import { Provider } from "aws-cdk-lib/custom-resources";
import { Construct } from "constructs";
import { SettingEnvironment } from "../lambda/environment.ts";
import { acknowledge, acknowledgeWildcard } from "./acknowledge.ts";
import { HolderFunction } from "./holder-function.ts";
import type { Plan } from "./props.ts";

const adminPolicy = "AmazonEKSClusterAdminPolicy";

type ClusterAdminProps = Readonly<{ plan: Plan; clusterArn: string; principals: () => string[] }>;

/** The function that writes our rights into the cluster; it alone can make itself an admin, and only there. */
export class ClusterAdmin extends Construct {
  /** Where CloudFormation sends what it wants of the cluster. */
  readonly serviceToken: string;
  readonly roleArn: string;

  constructor(scope: Construct, id: string, props: ClusterAdminProps) {
    super(scope, id);
    const { plan } = props;
    const admin = new HolderFunction(this, "Function", {
      cluster: plan.settings.cluster,
      part: "cluster-access",
      description: "Installs and removes the node holder's rights in the cluster",
      timeout: Duration.minutes(14),
      environment: { [SettingEnvironment.cluster]: plan.settings.cluster },
      logRetention: plan.logRetention,
      vpc: plan.vpc,
    });
    this.roleArn = admin.role.roleArn;
    letAdmit(admin, props);
    this.serviceToken = this.provider(admin, plan).serviceToken;
  }

  // CDK's provider answers CloudFormation even when the function itself cannot, and from outside of a VPC.
  private provider(admin: HolderFunction, plan: Plan): Provider {
    const logGroup = new LogGroup(this, "ProviderLogs", {
      retention: plan.logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    const provider = new Provider(this, "Provider", { onEventHandler: admin.fn, logGroup });
    const itsOwn = "written by CDK's own provider, which offers no other way";
    acknowledge(provider, {
      "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]":
        itsOwn,
      "AwsSolutions-L1": itsOwn,
    });
    acknowledgeWildcard(provider, `${admin.fn.functionArn}:*`, itsOwn);
    return provider;
  }
}

// The cluster is named beside the entries for those who check these actions on the cluster itself. Every such
// request carries the keys of the conditions, so "if exists" is as strict as without.
function letAdmit(admin: HolderFunction, { plan, clusterArn, principals }: ClusterAdminProps): void {
  const { partition } = Stack.of(admin);
  const own = admin.role.roleArn;
  const known = Lazy.list({ produce: () => [own, ...principals()] });
  const entries = accessEntries(admin, plan.settings.cluster, "*");
  const ownEntry = accessEntries(admin, plan.settings.cluster, admin.role.roleName);
  admin.may({ actions: ["eks:DescribeCluster"], resources: [clusterArn] });
  admin.may({
    actions: ["eks:CreateAccessEntry"],
    resources: [clusterArn],
    conditions: { StringEqualsIfExists: { "eks:principalArn": known } },
  });
  admin.may({
    actions: ["eks:UpdateAccessEntry", "eks:DeleteAccessEntry"],
    resources: [clusterArn, entries],
    conditions: { StringEqualsIfExists: { "eks:principalArn": known } },
  });
  admin.may({
    actions: ["eks:AssociateAccessPolicy", "eks:DisassociateAccessPolicy"],
    resources: [clusterArn, ownEntry],
    conditions: {
      StringEqualsIfExists: {
        "eks:policyArn": `arn:${partition}:eks::aws:cluster-access-policy/${adminPolicy}`,
        "eks:accessScope": "cluster",
      },
    },
  });
  acknowledgeWildcard(
    admin.role,
    entries,
    "an entry's ARN ends in an id that EKS makes; the condition names the roles",
  );
  acknowledgeWildcard(admin.role, ownEntry, "an entry's ARN ends in an id that EKS makes");
}

const accessEntries = (admin: HolderFunction, cluster: string, roleName: string): string =>
  Stack.of(admin).formatArn({
    service: "eks",
    resource: "access-entry",
    resourceName: `${cluster}/role/${Stack.of(admin).account}/${roleName}/*`,
  });
