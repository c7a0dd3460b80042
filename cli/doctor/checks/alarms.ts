import { alarmName, alarmNames } from "../../../infra/names.ts";
import { type Duration, minutes, parseDuration } from "../../../lambda/core/duration.ts";
import { monitoringVariable, SettingEnvironment } from "../../../lambda/environment.ts";
import { about } from "../../terminal/text.ts";
import type { AlarmFacts } from "../aws/aws-account.ts";
import type { Checks } from "../doctor.ts";
import { fail, ok, orOk, warn } from "../finding.ts";

/** A new alarm has its first data after some minutes. */
const settled: Duration = minutes(30);

/** Alarms without the beginning that all their names have. */
const listed = (holder: string, names: readonly string[]): string =>
  names.map((name) => name.slice(alarmName(holder, "").length)).join(", ");

export const ofAlarms = {
  // Every alarm is there, has data, notifies someone, and is off.
  async alarms({ account, holder, clock, env }) {
    if (env(monitoringVariable) === "none") return ok("none, as monitoring=none asks");
    const isUncapped = parseDuration(env(SettingEnvironment.maxHold)) === 0;
    const needless = isUncapped && alarmName(holder, "hold-over-cap");
    const expected = alarmNames(holder).filter((name) => name !== needless);
    const alarms = await account.alarms(expected);
    if (alarms.length === 0) return warn("there are no alarms: a failure notifies no one");

    const named = (which: (alarm: AlarmFacts) => boolean) => alarms.filter(which).map(({ name }) => name);
    const ageOf = ({ since }: AlarmFacts) => clock.now().getTime() - since.getTime();
    const missing = expected.filter((name) => !alarms.some((alarm) => alarm.name === name));
    const blind = named((one) => one.state === "INSUFFICIENT_DATA" && ageOf(one) >= settled);
    const silent = named(({ notifies }) => !notifies);
    const which = silent.length < alarms.length ? listed(holder, silent) : "all";
    const topic = "Deploy with the setting alarmTopicArn, or the construct's alarmTopic.";
    const on = alarms
      .filter(({ state }) => state === "ALARM")
      .map((alarm) => {
        // Its first command is this one.
        const remedy = alarm.description.replace(/First: npx \S+ doctor \S+ \S+\. /, "");
        return warn(`${listed(holder, [alarm.name])} is on, for ${about(ageOf(alarm))}`, remedy);
      });
    return orOk(
      [
        ...on,
        missing.length > 0 && fail(`missing: ${listed(holder, missing)}`),
        blind.length > 0 && warn(`without data: ${listed(holder, blind)}`),
        silent.length > 0 && warn(`without anyone to notify: ${which}`, topic),
      ],
      `${alarms.length}, none is on`,
    );
  },
  // What alarms send arrives: a topic, or its key, may not let CloudWatch in.
  async notifications({ account, holder, env }) {
    if (env(monitoringVariable) === "none") return [];
    const unsent = await account.unsent(alarmNames(holder));
    const [first] = unsent;
    if (!first) return [];
    const names = unsent.map(({ name }) => name);
    const remedy =
      "Let cloudwatch.amazonaws.com publish to the topic and use its key, which alias/aws/sns never does. Then try: " +
      `aws cloudwatch set-alarm-state --alarm-name ${first.name} --state-value ALARM --state-reason test`;
    return warn(`the last one of ${listed(holder, names)} was not sent: ${first.why}`, remedy);
  },
} satisfies Checks;
