import { CustomResource, Duration, FileSystem, Lazy, Stack } from "aws-cdk-lib";
import { Construct, type IConstruct, type IDependable } from "constructs";
import { accessResource, adminRightResource } from "../../lambda/cluster-access/template-names.ts";
import { bundleOf } from "../functions/bundles.ts";
import type { HolderFunction } from "../functions/holder-function.ts";
import type { Plan } from "../settings/plan.ts";
import { ClusterAdmin } from "./cluster-admin.ts";

/** Our rights in the cluster: who may log in, and with `access: install` all that is written there. */
export class ClusterAccess extends Construct {
  private readonly adminRight: CustomResource | undefined;
  private readonly installed: CustomResource | undefined;
  private readonly admin: ClusterAdmin | undefined;
  private readonly clusterArn: string;

  constructor(scope: Construct, id: string, plan: Plan) {
    super(scope, id);
    const { cluster, holdAnnotation, mode, auto, nodeEvents } = plan.settings;
    this.clusterArn = Stack.of(this).formatArn({
      service: "eks",
      resource: "cluster",
      resourceName: cluster,
    });
    if (plan.access === "manual") return;

    const admin = new ClusterAdmin(this, "Admin", { plan, clusterArn: this.clusterArn });
    this.admin = admin;
    const { serviceToken } = admin;
    // Deleted after all else, also when the first installation is killed: it gives the admin right back.
    this.adminRight = new CustomResource(this, "AdminRight", {
      resourceType: adminRightResource,
      serviceToken,
    });
    this.installed = new CustomResource(this, "Installed", {
      resourceType: accessResource,
      serviceToken,
      serviceTimeout: Duration.minutes(30),
      // For CloudFormation alone, which calls the function when they change: it reads its environment.
      properties: {
        cluster,
        holdAnnotation,
        mode,
        auto,
        nodeEvents: String(nodeEvents),
        roles: Lazy.list({ produce: () => admin.roleArns }),
        // What is written into the cluster comes with the code that writes it.
        bundle: FileSystem.fingerprint(bundleOf("cluster-access")),
      },
    });
    this.installed.node.addDependency(this.adminRight);
  }

  /** Lets a function log in to the cluster as a member of our group. */
  openTo(user: HolderFunction): void {
    user.may({ actions: ["eks:DescribeCluster"], resources: [this.clusterArn] });
    this.admin?.admit(user.role);
    // Updated functions first: once the policy names another annotation, it refuses marks under the former one.
    this.installed?.node.addDependency(user.resource);
  }

  /** CloudFormation deletes at once what nothing depends on; the clean-up of the cluster needs the network to its end. */
  needs(network: IDependable): void {
    this.adminRight?.node.addDependency(network);
  }

  /** What starts work in the cluster begins after our rights are there, and ends before they are taken back. */
  surrounds(start: IConstruct): void {
    if (this.installed) start.node.addDependency(this.installed);
  }
}
