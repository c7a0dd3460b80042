import { scheduleName } from "../../../lambda/aws/scheduler-releases.ts";
import { after, type Duration, hours, minutes, parseDuration } from "../../../lambda/core/duration.ts";
import { isHoldId } from "../../../lambda/core/marks/hold-id.ts";
import type { PresentHold, PresentPause } from "../../../lambda/core/operate/check.ts";
import type { PastHold } from "../../../lambda/core/record.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import { Environment, SettingEnvironment } from "../../../lambda/environment.ts";
import { documentLink } from "../../../lambda/package-root.ts";
import { holderSettings } from "../../../lambda/settings-table.ts";
import { parseHistory } from "../../answers.ts";
import { about } from "../../terminal/text.ts";
import type { FunctionFacts, ScheduleFacts } from "../aws/account.ts";
import { type Doctor, redeploy } from "../doctor.ts";
import { type Check, type Facts, NotThere, watched } from "../facts.ts";
import { type Found, fail, ok, warn } from "../finding.ts";
import { turnedOff } from "./launch-path.ts";

/** A one-shot may fire a minute late, and deletes itself when it has. */
const grace: Duration = minutes(2);

/** The one-shots, and the rights to create and use them. */
export const ofSchedules: readonly Check[] = [
  {
    link: "schedule group",
    async find({ doctor, group }) {
      const state = await doctor.account.scheduleGroup(group);
      if (state === "ACTIVE") return ok(group);
      const is = state === undefined ? "gone: no release can be scheduled" : state;
      return fail(`${group} is ${is}`, redeploy(doctor));
    },
  },
  {
    link: "schedule role",
    async find({ doctor, env }) {
      const arn = env[Environment.scheduleRoleArn] ?? "";
      const role = await doctor.account.role(arn);
      if (!role) return fail(`${arn} is gone: releases cannot be invoked`, redeploy(doctor));
      if (!JSON.stringify(role.trust).includes("scheduler.amazonaws.com"))
        return fail(`${arn} does not trust EventBridge Scheduler`, redeploy(doctor));
      return ok(arn.slice(arn.lastIndexOf("/") + 1));
    },
  },
  {
    link: "schedule role",
    follows: ["schedule role"],
    async find({ doctor, env }) {
      const arn = env[Environment.scheduleRoleArn] ?? "";
      const target = env[Environment.releaseFunctionArn] ?? "";
      const refused = await doctor.account.refused(arn, ["lambda:InvokeFunction"], target);
      if (refused.length === 0) return [];
      return fail(`${arn} may not invoke the release function: one-shots have no effect`, redeploy(doctor));
    },
  },
  {
    link: "schedules",
    async find({ group, schedules, env }) {
      const all = await schedules();
      const foreign = all.filter((one) => !isOneShot(one, env[Environment.releaseFunctionArn]));
      if (foreign.length === 0) return ok(`${all.length} in the group, none foreign`);
      return foreign
        .slice(0, 5)
        .map(({ name, expression }) =>
          fail(
            `${name} (${expression}) is no one-shot of the holder: anyone with the credentials of a function can create it`,
            `If it is not yours: aws scheduler delete-schedule --group-name ${group} --name ${name}; then see ${documentLink("security.md")}`,
          ),
        );
    },
  },
  {
    link: "permissions",
    async find(see) {
      const refused = await Promise.all(watched.map((part) => refusedTo(see, see.functions[part], part)));
      const found = refused.flat();
      return found.length > 0
        ? found
        : ok("the functions may set one-shots, queue work and write their logs");
    },
  },
];

/** What a function cannot try without an effect is asked of IAM. */
async function refusedTo(
  { doctor, group, queue }: Facts,
  fn: FunctionFacts,
  part: string,
): Promise<readonly Found[]> {
  const [arn = "", partition = "", , region = "", account = ""] = fn.arn.split(":");
  const of = (service: string, resource: string) =>
    [arn, partition, service, region, account, resource].join(":");
  const launches = part === "release" ? undefined : await queue();
  const needs: readonly (readonly [actions: readonly string[], resource: string])[] = [
    [["scheduler:CreateSchedule"], of("scheduler", `schedule/${group}/any`)],
    [
      ["logs:CreateLogStream", "logs:PutLogEvents"],
      of("logs", `log-group:/aws/lambda/${fn.name}:log-stream:any`),
    ],
    ...(launches ? [[["sqs:SendMessage"], launches.arn] as const] : []),
  ];
  const refused = await Promise.all(needs.map((need) => doctor.account.refused(fn.roleArn, ...need)));
  const actions = refused.flat();
  return actions.length > 0 ? [fail(`${fn.name} may not ${actions.join(", ")}`, redeploy(doctor))] : [];
}

/** Ours fires once, at the time in its name, and names the hold to which it belongs. */
function isOneShot(
  { name, expression, targetArn, input }: ScheduleFacts,
  target: string | undefined,
): boolean {
  const [, holdId] = /^(.+)-\d+$/.exec(name) ?? [];
  return (
    isHoldId(holdId) &&
    /^at\(/.test(expression) &&
    targetArn === target &&
    input.includes(`"${holdId}"`) &&
    !input.includes('"force"')
  );
}

/** What is held ends in time, and the sweep looks after it. */
export const ofReleases: readonly Check[] = [
  {
    link: "holds",
    follows: ["schedule group", "login", "rights"],
    async find(see) {
      const { inside } = await see.answers.control();
      if (!inside.record.works) throw new NotThere();
      const { holds, pauses } = inside.record;
      const found = [
        ...(await Promise.all(holds.map((hold) => checkHold(see, hold, inside.rules, inside.at)))),
        ...pauses.flatMap((pause) => oldPause(see.doctor, pause, inside.at)),
      ];
      return found.length > 0 ? found : ok("nothing is held now");
    },
  },
  {
    link: "holds",
    async find({ doctor, answers }) {
      if (!(await answers.control()).inside.record.works) throw new NotThere();
      const past = parseHistory(await doctor.account.invoke("control", { do: "history", limit: 1_000 }));
      return cappedEachDay(doctor, past);
    },
  },
  {
    link: "sweep",
    async find({ doctor, functions: { sweep } }) {
      const rule = await doctor.account.ruleThatTargets(sweep.arn);
      if (!rule) return fail(`no rule invokes ${sweep.name}`, redeploy(doctor));
      if (rule.isEnabled) return [];
      return turnedOff(doctor, rule.name, `${rule.name}, which invokes the sweep, is disabled`);
    },
  },
  {
    link: "sweep",
    follows: ["sweep", "record", "login", "access entries", "rights", "policy"],
    async find({ doctor, answers, functions: { sweep } }) {
      const { record, at } = (await answers.control()).inside;
      if (!record.works) throw new NotThere();
      return checkLastSweep(doctor, sweep, record.lastSweep, at);
    },
  },
];

/** A hold ends in time: its one-shot is there, it is not overdue, and no setting allows it to last as long as it does. */
async function checkHold(
  { doctor, schedules }: Facts,
  hold: PresentHold,
  rules: Rules,
  now: Date,
): Promise<Found> {
  const { id, scope, state, until, nextLook } = hold;
  const sweepNow = () => doctor.account.invoke("sweep", {}).then(() => {});
  const fix = { action: `sweep now, which repairs hold ${id}`, apply: sweepNow };
  const overdue = now.getTime() - until.getTime();
  if (overdue > grace) {
    const what = `the hold of ${scope} (${id}) should have ended ${about(overdue)} ago`;
    return fail(what, `See ${documentLink("operating.md#release-overdue")}; --fix sweeps at once.`, fix);
  }
  if (state === "releasing") return ok(`the hold of ${scope} is being released`);
  if (-overdue > longestHold(rules)) {
    const what = `the hold of ${scope} (${id}) lasts until ${until.toISOString()}, longer than any setting allows`;
    return fail(what, `npx karpenter-node-holder release --force --cluster ${doctor.cluster}`);
  }
  const firesAt = nextLook ?? until;
  const late = now.getTime() - firesAt.getTime();
  const isFiring = Math.abs(late) <= grace;
  const name = scheduleName(id, firesAt);
  const isThere = async () => (await schedules()).some((one) => one.name === name && one.isEnabled);
  if (isFiring || (late < 0 && (await isThere()))) return ok(`the hold of ${scope} (${id}) has its one-shot`);
  const missing =
    late < 0
      ? `the hold of ${scope} (${id}) has no one-shot to end it`
      : `the one-shot of the hold of ${scope} (${id}) was due ${about(late)} ago and set no other`;
  return fail(`${missing}: only the sweep will end it`, "--fix sweeps at once, which sets a new one.", fix);
}

/** Requests count from when they were made, a window may last a week, and with `hold=auto` a launch holds for maxHold. */
const longestHold = ({ hold, maxHold, maxRequest }: Rules): Duration =>
  Math.max(hold, maxHold, maxRequest, hours(24 * 7)) + grace;

const aDay: Duration = hours(24);

/** A pause that was forgotten leaves the nodes without protection. */
function oldPause(
  { cluster }: Doctor,
  { scope, since, until, because }: PresentPause,
  now: Date,
): readonly Found[] {
  const age = now.getTime() - since.getTime();
  if (age < aDay) return [ok(`${scope} is paused until ${until.toISOString()}: ${because}`)];
  const what = `${scope} is paused for ${about(age)} already, until ${until.toISOString()}: ${because}`;
  return [
    warn(what, `If no one needs it: npx karpenter-node-holder resume --cluster ${cluster} --scope ${scope}`),
  ];
}

const daysInARow = 3;

/** Where launches never stop for as long as a hold, another length fits better. */
function cappedEachDay({ cluster, clock }: Doctor, past: readonly PastHold[]): readonly Found[] {
  const now = clock.now().getTime();
  const days = past
    .filter(({ capped }) => capped)
    .map(({ endedAt }) => Math.floor((now - endedAt.getTime()) / aDay));
  const isEachDay = Array.from({ length: daysInARow }, (_, day) => day).every((day) => days.includes(day));
  if (!isEachDay) return [];
  const what = `launches reached maxHold on each of the last ${daysInARow} days`;
  return [warn(what, `A shorter hold may fit better: npx karpenter-node-holder advise --cluster ${cluster}`)];
}

/** The sweep has run to its end lately. */
function checkLastSweep(doctor: Doctor, sweep: FunctionFacts, lastSweep: Date | undefined, now: Date): Found {
  const every =
    parseDuration(sweep.env[SettingEnvironment.sweepEvery] ?? holderSettings.sweepEvery.default) ??
    minutes(5);
  const log = `aws logs tail /aws/lambda/${sweep.name} --since 1h`;
  const fix = { action: "sweep now", apply: () => doctor.account.invoke("sweep", {}).then(() => {}) };
  if (!lastSweep && sweep.changedAt && sweep.changedAt > after(now, -every - minutes(2)))
    return warn("none has run since the last deployment", `Wait ${about(every)}.`);
  if (!lastSweep) return fail("no sweep has run to its end yet", `Read its log: ${log}`, fix);
  const age = now.getTime() - lastSweep.getTime();
  if (age > 2 * every + minutes(2)) {
    const what = `the last sweep that ran to its end was ${about(age)} ago, one is due every ${about(every)}`;
    return fail(what, `See ${documentLink("operating.md#sweep-silent")}; its log: ${log}`, fix);
  }
  return ok(`ran ${about(Math.max(0, age))} ago, every ${about(every)}`);
}
