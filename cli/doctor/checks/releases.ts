import { scheduleName } from "../../../lambda/aws/scheduler-releases.ts";
import { after, type Duration, minutes, parseDuration } from "../../../lambda/core/duration.ts";
import type { PresentHold } from "../../../lambda/core/operate/check.ts";
import { SettingEnvironment } from "../../../lambda/environment.ts";
import { documentLink } from "../../../lambda/package-root.ts";
import { holderSettings } from "../../../lambda/settings-table.ts";
import { about } from "../../terminal/text.ts";
import type { FunctionFacts } from "../aws/account.ts";
import { type Doctor, redeploy } from "../doctor.ts";
import { type Findings, type Found, fail, ok, warn } from "../finding.ts";
import { turnedOff } from "./launch-path.ts";

/** A one-shot may fire a minute late, and deletes itself when it has. */
const grace: Duration = minutes(2);

export async function checkScheduleGroup(doctor: Doctor, name: string): Promise<Findings> {
  const state = await doctor.account.scheduleGroup(name);
  if (state === "ACTIVE") return ok(name);
  const what = state === undefined ? `${name} is gone: no release can be scheduled` : `${name} is ${state}`;
  return fail(what, redeploy(doctor));
}

/** The role in which Scheduler invokes the release function. */
export async function checkScheduleRole(doctor: Doctor, arn: string): Promise<Findings> {
  const role = await doctor.account.role(arn);
  if (!role) return fail(`${arn} is gone: releases cannot be invoked`, redeploy(doctor));
  if (!JSON.stringify(role.trust).includes("scheduler.amazonaws.com")) {
    return fail(`${arn} does not trust EventBridge Scheduler`, redeploy(doctor));
  }
  return ok(arn.slice(arn.lastIndexOf("/") + 1));
}

/** Each present hold ends in time: its one-shot is there, and it is not overdue. */
export async function checkHolds(
  doctor: Doctor,
  holds: readonly PresentHold[],
  group: string,
  now: Date,
): Promise<Findings> {
  if (holds.length === 0) return ok("nothing is held now");
  return Promise.all(holds.map((hold) => checkHold(doctor, hold, group, now)));
}

async function checkHold(doctor: Doctor, hold: PresentHold, group: string, now: Date): Promise<Found> {
  const { id, scope, state, until, nextLook } = hold;
  const fix = { action: `sweep now, which repairs hold ${id}`, apply: () => doctor.account.sweepNow() };
  const overdue = now.getTime() - until.getTime();
  if (overdue > grace) {
    const what = `the hold of ${scope} (${id}) should have ended ${about(overdue)} ago`;
    return fail(what, `See ${documentLink("operating.md#release-overdue")}; --fix sweeps at once.`, fix);
  }
  if (state === "releasing") return ok(`the hold of ${scope} is being released`);
  const firesAt = nextLook ?? until;
  const late = now.getTime() - firesAt.getTime();
  const isFiring = Math.abs(late) <= grace;
  if (isFiring || (late < 0 && (await doctor.account.scheduleExists(group, scheduleName(id, firesAt))))) {
    return ok(`the hold of ${scope} (${id}) has its one-shot`);
  }
  const missing =
    late < 0
      ? `the hold of ${scope} (${id}) has no one-shot to end it`
      : `the one-shot of the hold of ${scope} (${id}) was due ${about(late)} ago and set no other`;
  return fail(`${missing}: only the sweep will end it`, "--fix sweeps at once, which sets a new one.", fix);
}

/** A rule invokes the sweep. */
export async function checkSweepRule(doctor: Doctor, sweep: FunctionFacts): Promise<Findings> {
  const rule = await doctor.account.ruleThatTargets(sweep.arn);
  if (!rule) return fail(`no rule invokes ${sweep.name}`, redeploy(doctor));
  if (rule.isEnabled) return [];
  return turnedOff(doctor, rule.name, `${rule.name}, which invokes the sweep, is disabled`);
}

/** The sweep has run to its end lately. */
export function checkLastSweep(
  doctor: Doctor,
  sweep: FunctionFacts,
  lastSweep: Date | undefined,
  now: Date,
): Found {
  const every = sweepEvery(sweep);
  const log = `aws logs tail /aws/lambda/${sweep.name} --since 1h`;
  const fix = { action: "sweep now", apply: () => doctor.account.sweepNow() };
  if (!lastSweep && sweep.changedAt && sweep.changedAt > after(now, -every - minutes(2))) {
    return warn("none has run since the last deployment", `Wait ${about(every)}.`);
  }
  if (!lastSweep) return fail("no sweep has run to its end yet", `Read its log: ${log}`, fix);
  const age = now.getTime() - lastSweep.getTime();
  if (age > 2 * every + minutes(2)) {
    const what = `the last sweep that ran to its end was ${about(age)} ago, one is due every ${about(every)}`;
    return fail(what, `See ${documentLink("operating.md#sweep-silent")}; its log: ${log}`, fix);
  }
  return ok(`ran ${about(Math.max(0, age))} ago, every ${about(every)}`);
}

const sweepEvery = ({ env }: FunctionFacts): Duration =>
  parseDuration(env[SettingEnvironment.sweepEvery] ?? holderSettings.sweepEvery.default) ?? minutes(5);
