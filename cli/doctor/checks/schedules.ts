import { isHoldId } from "../../../lambda/core/marks/hold-id.ts";
import { Environment } from "../../../lambda/environment.ts";
import { documentLink } from "../../../lambda/package-root.ts";
import type { FunctionFacts } from "../aws/functions.ts";
import type { ScheduleFacts } from "../aws/schedules.ts";
import type { Check, Facts } from "../doctor.ts";
import { type Found, fail, ifAny, ok, orOk } from "../finding.ts";

/** The one-shots, and the rights to create and use them. */
export const ofSchedules: readonly Check[] = [
  {
    link: "schedule group",
    async find({ doctor, env }) {
      const group = env(Environment.scheduleGroup);
      const state = await doctor.account.scheduleGroup(group);
      if (state === "ACTIVE") return ok(group);
      return fail(`${group} is ${state ?? "gone"}: no release can be scheduled`);
    },
  },
  {
    link: "schedule role",
    async find({ doctor: { account }, env }) {
      const arn = env(Environment.scheduleRoleArn);
      const trust = await account.trust(arn);
      if (trust === undefined) return fail(`${arn} is gone: releases cannot be invoked`);
      if (!trust.includes("scheduler.amazonaws.com"))
        return fail(`${arn} does not trust EventBridge Scheduler`);
      const target = env(Environment.releaseFunctionArn);
      const refused = await account.refused(arn, ["lambda:InvokeFunction"], target);
      if (refused.length === 0) return ok(arn.slice(arn.lastIndexOf("/") + 1));
      return fail(`${arn} may not invoke the release function: one-shots have no effect`);
    },
  },
  {
    link: "schedules",
    async find({ schedules, env }) {
      const all = await schedules();
      const foreign = all.filter((one) => !isOneShot(one, env(Environment.releaseFunctionArn)));
      const found = foreign.slice(0, 5).map(({ name, expression }) => {
        const what = `${name} (${expression}) is no one-shot of the holder: anyone with the credentials of a function can create it`;
        const remove = `aws scheduler delete-schedule --group-name ${env(Environment.scheduleGroup)} --name ${name}`;
        return fail(what, `If it is not yours: ${remove}; then see ${documentLink("security.md")}`);
      });
      return orOk(found, `${all.length} in the group, none foreign`);
    },
  },
  {
    link: "permissions",
    async find(facts) {
      const found = await Promise.all(Object.values(facts.functions).map((fn) => refusedTo(facts, fn)));
      return orOk(found.flat(), "the functions may set one-shots, queue work and write their logs");
    },
  },
];

/** Ours fires once, at the time in its name, and names the hold to which it belongs. */
function isOneShot({ name, expression, targetArn, input }: ScheduleFacts, target: string): boolean {
  const [, holdId] = /(.+)-\d+$/.exec(name) ?? [];
  return (
    isHoldId(holdId) &&
    expression.startsWith("at(") &&
    targetArn === target &&
    input.includes(`"${holdId}"`) &&
    !input.includes('"force"')
  );
}

/** What a function cannot try without an effect is asked of IAM. */
async function refusedTo(
  { doctor, env, queue, functions }: Facts,
  fn: FunctionFacts,
): Promise<readonly Found[]> {
  const [arn, partition, , region, account] = fn.arn.split(":");
  const of = (service: string, resource: string) =>
    [arn, partition, service, region, account, resource].join(":");
  const launches = fn === functions.release ? undefined : await queue();
  const needs: readonly (readonly [actions: readonly string[], resource: string])[] = [
    [["scheduler:CreateSchedule"], of("scheduler", `schedule/${env(Environment.scheduleGroup)}/any`)],
    [
      ["logs:CreateLogStream", "logs:PutLogEvents"],
      of("logs", `log-group:/aws/lambda/${fn.name}:log-stream:any`),
    ],
    ...(launches ? [[["sqs:SendMessage"], launches.arn] as const] : []),
  ];
  const refused = await Promise.all(needs.map((need) => doctor.account.refused(fn.roleArn, ...need)));
  return ifAny(refused.flat(), (actions) => fail(`${fn.name} may not ${actions.join(", ")}`));
}
