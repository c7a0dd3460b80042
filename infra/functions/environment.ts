import { Environment, SettingEnvironment } from "../../lambda/environment.ts";
import { type SettingName, type Settings, writeSettings } from "../../lambda/settings.ts";
import type { HoldTable } from "../resources/hold-table.ts";
import type { LaunchQueue } from "../resources/launch-queue.ts";
import type { ReleaseSchedules } from "../resources/release-schedules.ts";

type Resources = Readonly<{
  table: HoldTable;
  launches: LaunchQueue;
  schedules: ReleaseSchedules;
  releaseFunctionArn: string;
}>;

/** The environment of every function; the functions read the same keys. */
export function environmentOf(settings: Settings, resources: Resources): Readonly<Record<string, string>> {
  const values: Record<keyof typeof Environment, string> = {
    holdTable: resources.table.name,
    launchQueueUrl: resources.launches.queue.queueUrl,
    scheduleGroup: resources.schedules.groupName,
    scheduleRoleArn: resources.schedules.role.roleArn,
    releaseFunctionArn: resources.releaseFunctionArn,
  };
  return {
    ...renamed(values, Environment),
    ...renamed<SettingName>(writeSettings(settings), SettingEnvironment),
  };
}

// Lambda accepts no empty values; a missing one has the same default in the function.
const renamed = <Name extends string>(values: Record<Name, string>, names: Record<Name, string>) =>
  Object.fromEntries(
    Object.entries<string>(names)
      .map(([name, key]) => [key, Object.entries<string>(values).find(([one]) => one === name)?.[1] ?? ""])
      .filter(([, value]) => value !== ""),
  );
