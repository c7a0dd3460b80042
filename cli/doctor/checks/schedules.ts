import { documentLink } from "../../../infra/package-root.ts";
import { isHoldId } from "../../../lambda/core/marks/hold-id.ts";
import { Environment, scheduleAlias } from "../../../lambda/environment.ts";
import { mostSchedules, type ScheduleFacts } from "../aws/aws-account.ts";
import type { Checks, Facts } from "../doctor.ts";
import { fail, ok, orOk, warn } from "../finding.ts";

/** The one-shots, and the rights to create and use them. */
export const ofSchedules = {
  async schedules({ schedules, env }) {
    const group = env(Environment.scheduleGroup);
    const all = await schedules;
    if (!all) return fail(`the schedule group ${group} is gone: no release can be scheduled`);
    const foreign = all.filter((one) => !isOneShot(one, env(Environment.releaseFunctionArn)));
    const found = foreign.slice(0, 5).map(({ name, expression }) => {
      const what = `${name} (${expression}) is no one-shot of the holder: anyone with the credentials of a function can create it`;
      const remove = `aws scheduler delete-schedule --group-name ${group} --name ${name}`;
      return fail(what, `If it is not yours: ${remove}; then see ${documentLink("security.md")}`);
    });
    // Behind so many of the holder's form a foreign one could hide.
    const isCut = all.length >= mostSchedules;
    const list = `Judge the others by hand: aws scheduler list-schedules --group-name ${group}`;
    const unseen = isCut && warn(`only the first ${all.length} of the group were read`, list);
    return orOk([...found, unseen], `${all.length} in the group, none foreign`);
  },
  async "schedule role"({ account, env }) {
    const arn = env(Environment.scheduleRoleArn);
    const trust = await account.trust(arn);
    if (trust === undefined) return fail(`${arn} is gone: releases cannot be invoked`);
    if (trust.includes("scheduler.amazonaws.com")) return ok(arn.slice(arn.lastIndexOf("/") + 1));
    return fail(`${arn} does not trust EventBridge Scheduler`);
  },
  async "release alias"({ account, functions: { release } }) {
    if (await account.hasAlias("release", scheduleAlias)) return ok(`${scheduleAlias} of ${release.name}`);
    return fail(`${release.name} has no alias ${scheduleAlias}, by which alone one-shots invoke it`);
  },
  // What cannot be tried without an effect is asked of IAM.
  async permissions(facts) {
    const refused = (await needsOf(facts)).map(async ([name, roleArn, actions, resource]) => {
      const missing = await facts.account.refused(roleArn, actions, resource);
      return missing.length > 0 && fail(`${name} may not ${missing.join(", ")}`);
    });
    const all = "one-shots can be set and released, work queued, and logs written";
    return orOk(await Promise.all(refused), all);
  },
} satisfies Checks;

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

type Need = readonly [name: string, roleArn: string, actions: readonly string[], resource: string];

async function needsOf({ env, queue, functions }: Facts): Promise<readonly Need[]> {
  const launches = await queue;
  const [arn, partition, , region, account] = functions.control.arn.split(":");
  const of = (service: string, resource: string) =>
    [arn, partition, service, region, account, resource].join(":");
  const schedule = of("scheduler", `schedule/${env(Environment.scheduleGroup)}/any`);
  const role = env(Environment.scheduleRoleArn);
  const needs: Need[] = [
    ["the schedule role", role, ["lambda:InvokeFunction"], env(Environment.releaseFunctionArn)],
  ];
  for (const [part, { name, roleArn }] of Object.entries(functions)) {
    const log = of("logs", `log-group:/aws/lambda/${name}:log-stream:any`);
    needs.push([name, roleArn, ["scheduler:CreateSchedule"], schedule]);
    needs.push([name, roleArn, ["iam:PassRole"], role]);
    needs.push([name, roleArn, ["logs:CreateLogStream", "logs:PutLogEvents"], log]);
    if (launches && part !== "release") needs.push([name, roleArn, ["sqs:SendMessage"], launches.arn]);
  }
  return needs;
}
