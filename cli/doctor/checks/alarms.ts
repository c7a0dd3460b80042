import { after, type Duration, minutes, parseDuration } from "../../../lambda/core/duration.ts";
import { monitoringVariable, SettingEnvironment } from "../../../lambda/environment.ts";
import { alarmName, alarmNames } from "../../../lambda/names.ts";
import { about } from "../../terminal/text.ts";
import type { AlarmFacts } from "../aws/account.ts";
import { redeploy } from "../doctor.ts";
import type { Check } from "../facts.ts";
import { type Found, fail, ok, warn } from "../finding.ts";

/** A new alarm has its first data after some minutes. */
const settled: Duration = minutes(30);

/** Every alarm is there, has data, notifies someone, and is off. */
export const checkAlarms: Check = {
  link: "alarms",
  async find({ doctor, env }) {
    if (env[monitoringVariable] === "none") return ok("none, as monitoring=none asks");
    const short = ({ name }: Pick<AlarmFacts, "name">) => name.slice(alarmName(doctor.cluster, "").length);
    const named = (alarms: readonly Pick<AlarmFacts, "name">[]) => alarms.map(short).join(", ");
    const now = doctor.clock.now();
    const isUncapped = parseDuration(env[SettingEnvironment.maxHold] ?? "") === 0;
    const capped = alarmName(doctor.cluster, "hold-over-cap");
    const expected = alarmNames(doctor.cluster).filter((name) => !(isUncapped && name === capped));
    const alarms = await doctor.account.alarms(expected);
    if (alarms.length === 0) return warn("there are no alarms: a failure notifies no one", redeploy(doctor));

    const found = alarms
      .filter(({ state }) => state === "ALARM")
      .map((alarm): Found => {
        const age = alarm.since ? `, for ${about(now.getTime() - alarm.since.getTime())}` : "";
        // Its first command is this one.
        const remedy = alarm.description.replace(/First: npx \S+ doctor \S+ \S+\. /, "");
        return warn(`${short(alarm)} is on${age}`, remedy);
      });
    const missing = expected.filter((name) => !alarms.some((alarm) => alarm.name === name));
    if (missing.length > 0) {
      const names = named(missing.map((name) => ({ name })));
      found.push(fail(`missing: ${names}`, redeploy(doctor)));
    }
    const blind = alarms.filter(
      ({ state, since }) => state === "INSUFFICIENT_DATA" && !(since && since > after(now, -settled)),
    );
    if (blind.length > 0) found.push(warn(`without data: ${named(blind)}`, redeploy(doctor)));
    const silent = alarms.filter(({ notifies }) => !notifies);
    if (silent.length > 0) {
      const which =
        silent.length === alarms.length ? "none notifies anyone" : `these notify no one: ${named(silent)}`;
      found.push(warn(which, `cdk deploy -c cluster=${doctor.cluster} -c alarmTopicArn=ARN`));
    }
    return found.length > 0 ? found : ok(`${alarms.length}, none is on`);
  },
};
