import { CreateScheduleCommand, type SchedulerClient } from "@aws-sdk/client-scheduler";
import { after, later, seconds } from "../core/duration.ts";
import type { Clock, Schedules } from "../core/ports.ts";
import type { Scope } from "../core/scope.ts";
import { awsFailure, isAws } from "./errors.ts";

export type SchedulerReleasesOptions = Readonly<{
  client: SchedulerClient;
  clock: Clock;
  group: string;
  /** The role Scheduler assumes, and the function it then invokes. */
  roleArn: string;
  releaseFunctionArn: string;
}>;

/** Scheduler may accept a one-shot whose time is past, or has passed while it was created, and never invoke it. */
const soonest = seconds(60);

/** One-shots invoke release once and then delete themselves. Each has its own name, so a second one like it is a conflict. */
export class SchedulerReleases implements Schedules {
  readonly #options: SchedulerReleasesOptions;

  constructor(options: SchedulerReleasesOptions) {
    this.#options = options;
  }

  async arm(scope: Scope, holdId: string, at: Date): Promise<"armed" | "already armed"> {
    const { client, clock, group, roleArn, releaseFunctionArn } = this.#options;
    const command = new CreateScheduleCommand({
      GroupName: group,
      Name: scheduleName(holdId, at),
      Description: `The next pass over ${scope}, for hold ${holdId}`,
      ScheduleExpression: `at(${firesAt(at, clock.now()).toISOString().slice(0, 19)})`,
      ScheduleExpressionTimezone: "UTC",
      FlexibleTimeWindow: { Mode: "OFF" },
      ActionAfterCompletion: "DELETE",
      Target: {
        Arn: releaseFunctionArn,
        RoleArn: roleArn,
        Input: JSON.stringify({ scope, holdId }),
        // An hour later the sweep has long released the hold.
        RetryPolicy: { MaximumEventAgeInSeconds: 3600, MaximumRetryAttempts: 20 },
      },
    });
    try {
      await client.send(command);
      return "armed";
    } catch (error) {
      if (isAws(error, "exists already")) return "already armed";
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): unknown {
    const remedy =
      "Check that the schedule group exists and that the functions' role may create schedules in it.";
    return awsFailure(error, `create a schedule in group ${this.#options.group}`, remedy);
  }
}

/** A one-shot must never fire before the moment asked for. */
const wholeSecondFrom = (moment: Date): Date => new Date(Math.ceil(moment.getTime() / 1000) * 1000);

/** When a one-shot for this moment is set to fire. */
export const firesAt = (at: Date, now: Date): Date => wholeSecondFrom(later(at, after(now, soonest)));

/** Named after the time that was asked for, also when that is past. */
export const scheduleName = (holdId: string, at: Date): string =>
  `${holdId}-${wholeSecondFrom(at).getTime() / 1000}`;
