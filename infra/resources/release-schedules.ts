import { Stack } from "aws-cdk-lib";
import { PolicyStatement, Role, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { CfnScheduleGroup } from "aws-cdk-lib/aws-scheduler";
import { Construct } from "constructs";
import { acknowledgeWildcard } from "../acknowledge.ts";
import type { HolderFunction } from "../functions/holder-function.ts";
import { scheduleGroupName } from "../names.ts";

/** The group of the one-shots, and the role with which they invoke the release function. */
export class ReleaseSchedules extends Construct {
  readonly groupName: string;
  /** The role that Scheduler assumes; only for schedules of this group. */
  readonly role: Role;

  constructor(scope: Construct, id: string, props: Readonly<{ name: string; releaseFunctionArn: string }>) {
    super(scope, id);
    const { account } = Stack.of(this);
    this.groupName = scheduleGroupName(props.name);
    const group = new CfnScheduleGroup(this, "Group", { name: this.groupName });
    this.role = new Role(this, "Role", {
      description: "Lets the one-shots of a hold invoke its release",
      assumedBy: new ServicePrincipal("scheduler.amazonaws.com", {
        conditions: { StringEquals: { "aws:SourceArn": group.attrArn, "aws:SourceAccount": account } },
      }),
    });
    const invoke = { actions: ["lambda:InvokeFunction"], resources: [props.releaseFunctionArn] };
    this.role.addToPolicy(new PolicyStatement(invoke));
  }

  /** Lets a function create one-shots in this group, with this role and no other. */
  openTo(user: HolderFunction): void {
    const schedules = Stack.of(this).formatArn({
      service: "scheduler",
      resource: "schedule",
      resourceName: `${this.groupName}/*`,
    });
    user.may({ actions: ["scheduler:CreateSchedule"], resources: [schedules] });
    user.may({
      actions: ["iam:PassRole"],
      resources: [this.role.roleArn],
      conditions: { StringEquals: { "iam:PassedToService": "scheduler.amazonaws.com" } },
    });
    acknowledgeWildcard(
      user.role,
      schedules,
      "one-shots are named after their hold; the group is ours alone",
    );
  }
}
