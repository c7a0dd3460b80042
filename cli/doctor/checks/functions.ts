import { alarmName, alarmNames, type Part } from "../../../lambda/names.ts";
import { version } from "../../../lambda/version.ts";
import { about } from "../../terminal/text.ts";
import type { FunctionFacts } from "../aws/account.ts";
import { type Doctor, redeploy } from "../doctor.ts";
import type { Seen } from "../examination.ts";
import { type Findings, fail, ok, warn } from "../finding.ts";

export const watched = ["hold", "release", "sweep", "control"] as const satisfies readonly Part[];
export type Functions = Readonly<Record<(typeof watched)[number], FunctionFacts>>;

export async function checkCredentials({ account }: Doctor): Promise<Findings> {
  const { arn } = await account.identity();
  return ok(arn);
}

/** All four functions exist, are active and not throttled to zero. */
export async function checkFunctions(doctor: Doctor): Promise<Seen<Functions>> {
  const [hold, release, sweep, control] = await Promise.all(
    watched.map((part) => doctor.account.functionOf(part)),
  );
  const missing = watched.filter((_, i) => ![hold, release, sweep, control][i]);
  if (!(hold && release && sweep && control)) {
    const what = `there is no ${missing.join(", ")} function for cluster ${doctor.cluster}`;
    const remedy = missing.length === watched.length ? await whichThen(doctor) : redeploy(doctor);
    return { findings: fail(what, remedy) };
  }
  const functions = { hold, release, sweep, control };
  const troubles = Object.values(functions).flatMap((fn) => troubleOf(fn, doctor));
  const findings = troubles.length > 0 ? troubles : ok("hold, release, sweep and control are ready");
  return { findings, facts: functions };
}

async function whichThen({ account, cluster }: Doctor): Promise<string> {
  const found = await account.holders();
  if (found && found.length > 0) return `Holders found here: ${found.join(", ")}.`;
  return `Check --cluster, --region and --profile, or deploy: cdk deploy -c cluster=${cluster}`;
}

function troubleOf(
  { name, state, lastUpdate, reservedConcurrency }: FunctionFacts,
  doctor: Doctor,
): Findings {
  if (reservedConcurrency === 0) {
    const remedy = `aws lambda delete-function-concurrency --function-name ${name} (or ${redeploy(doctor)})`;
    return fail(`${name} is turned off: its reserved concurrency is 0`, remedy);
  }
  if (state === "Pending" || lastUpdate === "InProgress") {
    return warn(`${name} is just being deployed`, "Check again in a minute.");
  }
  if (state !== "Active" && state !== "Inactive") {
    return fail(`${name} is ${state}`, redeploy(doctor));
  }
  if (lastUpdate === "Failed") return fail(`the last update of ${name} failed`, redeploy(doctor));
  return [];
}

/** The functions' code has the version of this command line. */
export function checkCode(answered: string): Findings {
  if (answered === version) return ok(`version ${version}, as this command line`);
  const what = `the functions are version ${answered}, this command line is ${version}`;
  const remedy = "Deploy again, or use the command line of that version";
  return warn(what, `${remedy}: npx karpenter-node-holder@${answered}`);
}

/** The record's table is there, and the functions can read it. */
export async function checkTable(doctor: Doctor, name: string): Promise<Findings> {
  const status = await doctor.account.tableStatus(name);
  if (status === undefined) {
    return fail(`the table ${name} is gone: no hold can be recorded`, redeploy(doctor));
  }
  if (status !== "ACTIVE") return fail(`the table ${name} is ${status}`, "Wait, then check again.");
  return ok(`table ${name}`);
}

/** No alarm is on. */
export async function checkAlarms(doctor: Doctor, now: Date): Promise<Findings> {
  const alarms = await doctor.account.alarms(alarmNames(doctor.cluster));
  if (alarms.length === 0) return warn("there are no alarms: a failure notifies no one", redeploy(doctor));
  const on = alarms.filter(({ state }) => state === "ALARM");
  if (on.length === 0) return ok(`${alarms.length}, none is on`);
  return on.map(({ name, description, since }) => {
    const age = since ? `, for ${about(now.getTime() - since.getTime())}` : "";
    // Its first command is this one.
    const remedy = description.replace(/First: npx \S+ doctor \S+ \S+\. /, "");
    return warn(`${name.slice(alarmName(doctor.cluster, "").length)} is on${age}`, remedy);
  });
}
