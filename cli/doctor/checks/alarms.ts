import { alarmName } from "../../../lambda/names.ts";
import { about } from "../../terminal/times.ts";
import { type Doctor, redeploy } from "../doctor.ts";
import { type Finding, ok, warn } from "../finding.ts";

/** No alarm is on. */
export async function checkAlarms(doctor: Doctor, now: Date): Promise<Finding[]> {
  const prefix = alarmName(doctor.cluster, "");
  const alarms = await doctor.account.alarms(prefix);
  if (alarms.length === 0)
    return [warn("alarms", "there are no alarms: a failure notifies no one", redeploy(doctor))];
  const on = alarms.filter(({ state }) => state === "ALARM");
  if (on.length === 0) return [ok("alarms", `${alarms.length}, none is on`)];
  return on.map(({ name, description, since }) => {
    const age = since ? `, for ${about(now.getTime() - since.getTime())}` : "";
    return warn("alarms", `${name.slice(prefix.length)} is on${age}`, description);
  });
}
