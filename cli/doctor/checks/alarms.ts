import { alarmName, alarmNames } from "../../../infra/names.ts";
import { after, type Duration, minutes, parseDuration } from "../../../lambda/core/duration.ts";
import { monitoringVariable, SettingEnvironment } from "../../../lambda/environment.ts";
import { about } from "../../terminal/text.ts";
import type { Checks } from "../doctor.ts";
import { fail, ok, orOk, warn } from "../finding.ts";

/** A new alarm has its first data after some minutes. */
const settled: Duration = minutes(30);

/** Alarms without the beginning that all their names have. */
const listed = (holder: string, alarms: readonly Readonly<{ name: string }>[]): string =>
  alarms.map(({ name }) => name.slice(alarmName(holder, "").length)).join(", ");

export const ofAlarms = {
  // Every alarm is there, has data, notifies someone, and is off.
  async alarms({ account, holder, clock, env }) {
    if (env(monitoringVariable) === "none") return ok("none, as monitoring=none asks");
    const now = clock.now();
    const isUncapped = parseDuration(env(SettingEnvironment.maxHold)) === 0;
    const expected = alarmNames(holder).filter(
      (name) => !(isUncapped && name === alarmName(holder, "hold-over-cap")),
    );
    const alarms = await account.alarms(expected);
    if (alarms.length === 0) return warn("there are no alarms: a failure notifies no one");

    const missing = expected
      .filter((name) => !alarms.some((alarm) => alarm.name === name))
      .map((name) => ({ name }));
    const old = after(now, -settled);
    const blind = alarms.filter(({ state, since }) => state === "INSUFFICIENT_DATA" && since <= old);
    const silent = alarms.filter(({ notifies }) => !notifies);
    const which = silent.length < alarms.length ? listed(holder, silent) : "all";
    const topic = "Deploy with -c alarmTopicArn=ARN, or the construct's alarmTopic.";
    const on = alarms
      .filter(({ state }) => state === "ALARM")
      .map((alarm) => {
        const age = about(now.getTime() - alarm.since.getTime());
        // Its first command is this one.
        const remedy = alarm.description.replace(/First: npx \S+ doctor \S+ \S+\. /, "");
        return warn(`${listed(holder, [alarm])} is on, for ${age}`, remedy);
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
    const remedy =
      "Let cloudwatch.amazonaws.com publish to the topic and use its key, which alias/aws/sns never does. Then try: " +
      `aws cloudwatch set-alarm-state --alarm-name ${first.name} --state-value ALARM --state-reason test`;
    return warn(`the last one of ${listed(holder, unsent)} was not sent: ${first.why}`, remedy);
  },
} satisfies Checks;
