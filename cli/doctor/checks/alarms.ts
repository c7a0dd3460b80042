import { alarmName, alarmNames } from "../../../infra/names.ts";
import { after, type Duration, minutes, parseDuration } from "../../../lambda/core/duration.ts";
import { monitoringVariable, SettingEnvironment } from "../../../lambda/environment.ts";
import { about } from "../../terminal/text.ts";
import type { AlarmFacts } from "../aws/aws-account.ts";
import type { Check } from "../doctor.ts";
import { fail, ifAny, ok, orOk, warn } from "../finding.ts";

/** A new alarm has its first data after some minutes. */
const settled: Duration = minutes(30);

const shortOf = (cluster: string, name: string): string => name.slice(alarmName(cluster, "").length);

/** Every alarm is there, has data, notifies someone, and is off. */
const checkAlarms: Check = {
  link: "alarms",
  async find({ doctor: { account, cluster, clock }, env }) {
    if (env(monitoringVariable) === "none") return ok("none, as monitoring=none asks");
    const short = (name: string) => shortOf(cluster, name);
    const now = clock.now();
    const isUncapped = parseDuration(env(SettingEnvironment.maxHold)) === 0;
    const expected = alarmNames(cluster).filter(
      (name) => !(isUncapped && name === alarmName(cluster, "hold-over-cap")),
    );
    const alarms = await account.alarms(expected);
    if (alarms.length === 0) return warn("there are no alarms: a failure notifies no one");

    const on = alarms.filter(({ state }) => state === "ALARM");
    const missing = expected.filter((name) => !alarms.some((alarm) => alarm.name === name));
    const old = after(now, -settled);
    const blind = alarms.filter(({ state, since }) => state === "INSUFFICIENT_DATA" && since <= old);
    const silent = alarms.filter(({ notifies }) => !notifies);
    const listed = (all: readonly AlarmFacts[]) => all.map(({ name }) => short(name)).join(", ");
    const wrong = [
      ...on.map(({ name, since, description }) => {
        const age = about(now.getTime() - since.getTime());
        // Its first command is this one.
        const remedy = description.replace(/First: npx \S+ doctor \S+ \S+\. /, "");
        return warn(`${short(name)} is on, for ${age}`, remedy);
      }),
      ...ifAny(missing, (names) => fail(`missing: ${names.map(short).join(", ")}`)),
      ...ifAny(blind, (all) => warn(`without data: ${listed(all)}`)),
      ...ifAny(silent, (all) => {
        const which = all.length < alarms.length ? listed(all) : "all";
        return warn(
          `without anyone to notify: ${which}`,
          "Deploy with -c alarmTopicArn=ARN, or the construct's alarmTopic.",
        );
      }),
    ];
    return orOk(wrong, `${alarms.length}, none is on`);
  },
};

/** What alarms send arrives: a topic, or its key, may not let CloudWatch in. */
const checkNotifications: Check = {
  link: "notifications",
  async find({ doctor: { account, cluster }, env }) {
    if (env(monitoringVariable) === "none") return [];
    const unsent = await account.unsent(alarmNames(cluster));
    const [first] = unsent;
    if (!first) return [];
    const names = unsent.map(({ name }) => shortOf(cluster, name)).join(", ");
    const remedy =
      "Let cloudwatch.amazonaws.com publish to the topic and use its key, which alias/aws/sns never does. Then try: " +
      `aws cloudwatch set-alarm-state --alarm-name ${first.name} --state-value ALARM --state-reason test`;
    return warn(`the last one of ${names} was not sent: ${first.why}`, remedy);
  },
};

export const ofAlarms: readonly Check[] = [checkAlarms, checkNotifications];
