import {
  ConflictException,
  CreateScheduleCommand,
  type SchedulerClient,
  ValidationException,
} from "@aws-sdk/client-scheduler";
import { after, later, seconds } from "../core/duration.ts";
import type { Clock, Schedules } from "../core/ports.ts";
import type { Scope } from "../core/scope.ts";
import { awsFailure } from "./errors.ts";

export type SchedulerReleasesOptions = Readonly<{
  client: SchedulerClient;
  clock: Clock;
  group: string;
  /** The role Scheduler assumes, and the function it then invokes. */
  roleArn: string;
  releaseFunctionArn: string;
}>;

/** A moment too near could be past when Scheduler looks at it, and the past is refused. */
const soonest = seconds(5);
const surelyAhead = seconds(90);

/** One-shots that invoke release once and then delete themselves; the name says which, so the same again is a conflict. */
export class SchedulerReleases implements Schedules {
  readonly #options: SchedulerReleasesOptions;

  constructor(options: SchedulerReleasesOptions) {
    this.#options = options;
  }

  async arm(scope: Scope, holdId: string, at: Date): Promise<"armed" | "already armed"> {
    const now = this.#options.clock.now();
    const moment = later(at, after(now, soonest));
    try {
      return await this.#create(scope, holdId, at, moment);
    } catch (error) {
      if (!(error instanceof ValidationException) || at > after(now, surelyAhead)) throw this.#failure(error);
    }
    try {
      return await this.#create(scope, holdId, at, after(now, surelyAhead));
    } catch (error) {
      throw this.#failure(error);
    }
  }

  async #create(scope: Scope, holdId: string, asked: Date, at: Date): Promise<"armed" | "already armed"> {
    const { client, group, roleArn, releaseFunctionArn } = this.#options;
    const command = new CreateScheduleCommand({
      GroupName: group,
      Name: scheduleName(holdId, asked),
      Description: `Releases hold ${holdId} of ${scope}`.slice(0, 512),
      ScheduleExpression: `at(${wholeSecondFrom(at).toISOString().slice(0, 19)})`,
      ScheduleExpressionTimezone: "UTC",
      FlexibleTimeWindow: { Mode: "OFF" },
      ActionAfterCompletion: "DELETE",
      Target: {
        Arn: releaseFunctionArn,
        RoleArn: roleArn,
        Input: JSON.stringify({ scope, holdId }),
        // Whatever is still undelivered after an hour the sweep has done long ago.
        RetryPolicy: { MaximumEventAgeInSeconds: 3600, MaximumRetryAttempts: 20 },
      },
    });
    try {
      await client.send(command);
      return "armed";
    } catch (error) {
      if (error instanceof ConflictException) return "already armed";
      throw error;
    }
  }

  #failure(error: unknown): unknown {
    const remedy =
      "Look whether the schedule group is there, and whether the functions' role may create schedules in it.";
    return awsFailure(error, `create a schedule in group ${this.#options.group}`, remedy);
  }
}

/** A one-shot must never fire before the moment asked for. */
const wholeSecondFrom = (moment: Date): Date => new Date(Math.ceil(moment.getTime() / 1000) * 1000);

/** Named for the moment asked for, also when that is already past. */
export const scheduleName = (holdId: string, at: Date): string =>
  `${holdId}-${wholeSecondFrom(at).getTime() / 1000}`;
