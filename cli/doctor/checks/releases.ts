import { scheduleName } from "../../../lambda/aws/scheduler-releases.ts";
import { after, type Duration, minutes } from "../../../lambda/core/duration.ts";
import type { PresentHold } from "../../../lambda/core/operate/check.ts";
import { about } from "../../terminal/times.ts";
import { type Doctor, redeploy } from "../doctor.ts";
import { type Finding, fail, ok } from "../finding.ts";

/** A one-shot may fire a minute late, and deletes itself when it has. */
const grace: Duration = minutes(2);

export async function checkScheduleGroup(doctor: Doctor, name: string): Promise<Finding[]> {
  const state = await doctor.account.scheduleGroup(name);
  if (state === "ACTIVE") return [ok("schedule group", name)];
  const what = state === undefined ? `${name} is gone: no release can be scheduled` : `${name} is ${state}`;
  return [fail("schedule group", what, redeploy(doctor))];
}

/** The role in which Scheduler invokes the release function. */
export async function checkScheduleRole(doctor: Doctor, arn: string): Promise<Finding[]> {
  const role = await doctor.account.role(arn);
  if (!role) return [fail("schedule role", `${arn} is gone: releases cannot be invoked`, redeploy(doctor))];
  if (!JSON.stringify(role.trust).includes("scheduler.amazonaws.com")) {
    return [fail("schedule role", `${arn} does not trust EventBridge Scheduler`, redeploy(doctor))];
  }
  return [ok("schedule role", nameIn(arn))];
}

/** Each present hold ends in time: its one-shot is there, and it is not overdue. */
export async function checkHolds(
  doctor: Doctor,
  holds: readonly PresentHold[],
  group: string,
  now: Date,
): Promise<Finding[]> {
  if (holds.length === 0) return [ok("holds", "nothing is held now")];
  return Promise.all(holds.map((hold) => checkHold(doctor, hold, group, now)));
}

async function checkHold(doctor: Doctor, hold: PresentHold, group: string, now: Date): Promise<Finding> {
  const { id, scope, state, expiresAt, armedFor } = hold;
  const fix = { action: `sweep now, which repairs hold ${id}`, apply: () => doctor.account.sweepNow() };
  const overdue = now.getTime() - expiresAt.getTime();
  if (overdue > grace) {
    const what = `the hold of ${scope} (${id}) should have ended ${about(overdue)} ago`;
    return fail("holds", what, "See docs/operating.md#release-overdue; --fix sweeps at once.", fix);
  }
  if (state === "releasing") return ok("holds", `the hold of ${scope} is being released`);
  const isDue = armedFor !== undefined && armedFor <= after(now, grace);
  // While the start of a hold marks its nodes, the record does not name the one-shot yet.
  const firesAt = armedFor ?? expiresAt;
  if (isDue || (await doctor.account.scheduleExists(group, scheduleName(id, firesAt)))) {
    return ok("holds", `the hold of ${scope} (${id}) has its one-shot`);
  }
  const what = `the hold of ${scope} (${id}) has no one-shot to end it; only the sweep will`;
  return fail("holds", what, "--fix sweeps at once, which sets a new one.", fix);
}

const nameIn = (arn: string): string => arn.split("/").at(-1) ?? arn;
