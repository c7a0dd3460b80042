import { Environment, eventsVariable, monitoringVariable } from "../../lambda/environment.ts";
import type { HoldTable } from "../resources/hold-table.ts";
import type { LaunchQueue } from "../resources/launch-queue.ts";
import type { ReleaseSchedules } from "../resources/release-schedules.ts";
import { settingsEnvironment } from "../settings/deployment.ts";
import type { Plan } from "../settings/plan.ts";

type Resources = Readonly<{
  table: HoldTable;
  launches: LaunchQueue;
  schedules: ReleaseSchedules;
  releaseFunctionArn: string;
}>;

/** The environment of every function; the functions read the same keys. */
export const environmentOf = (
  { settings, events, monitoring }: Pick<Plan, "settings" | "events" | "monitoring">,
  { table, launches, schedules, releaseFunctionArn }: Resources,
): Readonly<Record<string, string>> => ({
  [Environment.holdTable]: table.name,
  [Environment.launchQueueUrl]: launches.queue.queueUrl,
  [Environment.scheduleGroup]: schedules.groupName,
  [Environment.scheduleRoleArn]: schedules.role.roleArn,
  [Environment.releaseFunctionArn]: releaseFunctionArn,
  ...settingsEnvironment(settings),
  ...(events && { [eventsVariable]: "true" }),
  ...(monitoring !== "full" && { [monitoringVariable]: monitoring }),
});
