import { GetRoleCommand, IAMClient, SimulatePrincipalPolicyCommand } from "@aws-sdk/client-iam";
import {
  GetScheduleCommand,
  GetScheduleGroupCommand,
  paginateListSchedules,
  SchedulerClient,
} from "@aws-sdk/client-scheduler";
import { unlessGone } from "../../aws-errors.ts";
import type { AwsConfig } from "../../terminal/cluster-flags.ts";
import { textIn } from "./values.ts";

export type ScheduleFacts = Awaited<ReturnType<ReturnType<typeof awsSchedules>["schedules"]>>[number];

const mostSchedules = 1_000;

/** The one-shots, and what the roles of the holder may do. */
export function awsSchedules(config: AwsConfig) {
  const scheduler = new SchedulerClient(config);
  const iam = new IAMClient(config);

  async function namesIn(GroupName: string): Promise<readonly string[]> {
    const names: string[] = [];
    const pages = paginateListSchedules({ client: scheduler, stopOnSameToken: true }, { GroupName });
    for await (const { Schedules = [] } of pages) {
      names.push(...Schedules.map(({ Name }) => textIn(Name)));
      if (names.length >= mostSchedules) break;
    }
    return names;
  }

  return {
    async scheduleGroup(Name: string): Promise<string | undefined> {
      const found = await unlessGone(() => scheduler.send(new GetScheduleGroupCommand({ Name })));
      return found && textIn(found.State);
    },

    /** Every schedule of a group; a thousand at most. */
    async schedules(GroupName: string) {
      const names = (await unlessGone(() => namesIn(GroupName))) ?? [];
      const found = await Promise.all(
        names.map((Name) => unlessGone(() => scheduler.send(new GetScheduleCommand({ GroupName, Name })))),
      );
      // One that has fired meanwhile is gone.
      return found
        .filter((one) => one !== undefined)
        .map(({ Name, State, ScheduleExpression, Target }) => ({
          name: textIn(Name),
          isEnabled: textIn(State) !== "DISABLED",
          expression: textIn(ScheduleExpression),
          targetArn: textIn(Target?.Arn),
          input: textIn(Target?.Input),
        }));
    },

    /** The services and accounts that a role trusts, as the text of a policy. */
    async trust(arn: string): Promise<string | undefined> {
      const RoleName = arn.slice(arn.lastIndexOf("/") + 1);
      const found = await unlessGone(() => iam.send(new GetRoleCommand({ RoleName })));
      return found && textIn(found.Role?.AssumeRolePolicyDocument);
    },

    /** Which of these actions on a resource the policies of a role do not allow. */
    async refused(
      PolicySourceArn: string,
      actions: readonly string[],
      resource: string,
    ): Promise<readonly string[]> {
      const about = { PolicySourceArn, ActionNames: [...actions], ResourceArns: [resource] };
      const { EvaluationResults = [] } = await iam.send(new SimulatePrincipalPolicyCommand(about));
      const allowed = EvaluationResults.filter(({ EvalDecision }) => textIn(EvalDecision) === "allowed");
      return actions.filter((action) => !allowed.some(({ EvalActionName: name }) => name === action));
    },
  };
}
