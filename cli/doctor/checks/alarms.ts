import { after, type Duration, minutes, parseDuration } from "../../../lambda/core/duration.ts";
import { monitoringVariable, SettingEnvironment } from "../../../lambda/environment.ts";
import { alarmName, alarmNames } from "../../../lambda/names.ts";
import { about } from "../../terminal/text.ts";
import type { AlarmFacts } from "../aws/aws-account.ts";
import { type Check, inItsApp } from "../doctor.ts";
import { fail, ifAny, ok, orOk, warn } from "../finding.ts";

/** A new alarm has its first data after some minutes. */
const settled: Duration = minutes(30);

/** Every alarm is there, has data, notifies someone, and is off. */
export const checkAlarms: Check = {
  link: "alarms",
  async find({ doctor: { account, cluster, clock }, cluster: served, env }) {
    if (env[monitoringVariable] === "none") return ok("none, as monitoring=none asks");
    const short = (name: string) => name.slice(alarmName(cluster, "").length);
    const now = clock.now();
    const isUncapped = parseDuration(env[SettingEnvironment.maxHold] ?? "") === 0;
    const expected = alarmNames(cluster).filter(
      (name) => !(isUncapped && name === alarmName(cluster, "hold-over-cap")),
    );
    const alarms = await account.alarms(expected);
    if (alarms.length === 0) return warn("there are no alarms: a failure notifies no one");

    const on = alarms.filter(({ state }) => state === "ALARM");
    const missing = expected.filter((name) => !alarms.some((alarm) => alarm.name === name));
    const isNew = ({ since }: AlarmFacts) => since !== undefined && since > after(now, -settled);
    const blind = alarms.filter((alarm) => alarm.state === "INSUFFICIENT_DATA" && !isNew(alarm));
    const silent = alarms.filter(({ notifies }) => !notifies);
    const listed = (all: readonly AlarmFacts[]) => all.map(({ name }) => short(name)).join(", ");
    const wrong = [
      ...on.map(({ name, since, description }) => {
        const age = since ? `, for ${about(now.getTime() - since.getTime())}` : "";
        // Its first command is this one.
        return warn(
          `${short(name)} is on${age}`,
          description.replace(/First: npx \S+ doctor \S+ \S+\. /, ""),
        );
      }),
      ...ifAny(missing, (names) => fail(`missing: ${names.map(short).join(", ")}`)),
      ...ifAny(blind, (all) => warn(`without data: ${listed(all)}`)),
      ...ifAny(silent, (all) => {
        const which = all.length < alarms.length ? listed(all) : "all";
        const remedy =
          served === cluster
            ? `cdk deploy -c cluster=${cluster} -c alarmTopicArn=ARN`
            : inItsApp(cluster, "give it an alarmTopic");
        return warn(`without anyone to notify: ${which}`, remedy);
      }),
    ];
    return orOk(wrong, `${alarms.length}, none is on`);
  },
};
