import { after, type Duration, minutes, parseDuration } from "../../../lambda/core/duration.ts";
import { SettingEnvironment } from "../../../lambda/environment.ts";
import { holderSettings } from "../../../lambda/settings-table.ts";
import { about } from "../../terminal/times.ts";
import type { FunctionFacts } from "../aws/account.ts";
import { type Doctor, redeploy } from "../doctor.ts";
import { type Finding, fail, ok, warn } from "../finding.ts";

/** A rule invokes the sweep. */
export async function checkSweepRule(doctor: Doctor, sweep: FunctionFacts): Promise<Finding[]> {
  const rule = await doctor.account.ruleThatTargets(sweep.arn);
  if (!rule) return [fail("sweep", `no rule invokes ${sweep.name}`, redeploy(doctor))];
  if (rule.isEnabled) return [];
  return [
    fail(
      "sweep",
      `${rule.name}, which invokes the sweep, is disabled`,
      `aws events enable-rule --name ${rule.name}`,
      {
        action: `enable rule ${rule.name}`,
        apply: () => doctor.account.enableRule(rule.name),
      },
    ),
  ];
}

/** The sweep has run to its end lately. */
export function checkLastSweep(
  doctor: Doctor,
  sweep: FunctionFacts,
  lastSweep: Date | undefined,
  now: Date,
): Finding {
  const every = sweepEvery(sweep);
  const log = `aws logs tail /aws/lambda/${sweep.name} --since 1h`;
  const fix = { action: "sweep now", apply: () => doctor.account.sweepNow() };
  if (!lastSweep && sweep.changedAt && sweep.changedAt > after(now, -every - minutes(2))) {
    return warn("sweep", "none has run since the last deployment", `Wait ${about(every)}.`);
  }
  if (!lastSweep) {
    return fail("sweep", "no sweep has run to its end yet", `Read its log: ${log}`, fix);
  }
  const age = now.getTime() - lastSweep.getTime();
  if (age > 2 * every + minutes(2)) {
    const what = `the last sweep that ran to its end was ${about(age)} ago, one is due every ${about(every)}`;
    return fail("sweep", what, `See docs/operating.md#sweep-silent; its log: ${log}`, fix);
  }
  return ok("sweep", `ran ${about(Math.max(0, age))} ago, every ${about(every)}`);
}

const sweepEvery = ({ env }: FunctionFacts): Duration =>
  parseDuration(env[SettingEnvironment.sweepEvery] ?? holderSettings.sweepEvery.default) ?? minutes(5);
