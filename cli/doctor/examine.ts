import { Environment } from "../../lambda/environment.ts";
import { version } from "../../lambda/version.ts";
import { hopeless } from "../aws-errors.ts";
import { checkAccessEntries, checkAdminRight, checkCluster, checkManifest } from "./checks/cluster.ts";
import {
  checkAlarms,
  checkCode,
  checkCredentials,
  checkFunctions,
  checkTable,
  type Functions,
} from "./checks/functions.ts";
import {
  checkAnnotations,
  checkLaunches,
  checkLogin,
  checkNodes,
  checkPolicy,
  checkRights,
} from "./checks/inside.ts";
import {
  checkDeadLetters,
  checkMapping,
  checkQueue,
  checkQueuePolicy,
  checkRule,
  checkTarget,
} from "./checks/launch-path.ts";
import { type Bracket, checkClocks, checkProbe, skewOf } from "./checks/probe.ts";
import {
  checkHolds,
  checkLastSweep,
  checkScheduleGroup,
  checkScheduleRole,
  checkSweepRule,
} from "./checks/releases.ts";
import type { Doctor } from "./doctor.ts";
import { Examination } from "./examination.ts";
import { type Finding, type Findings, fail, skipped } from "./finding.ts";
import { type Inside, parseInside } from "./inside.ts";

/** Checks every link of the chain, causes before what follows from them. */
export async function examine(
  doctor: Doctor,
  notify: (finding: Finding) => void,
): Promise<readonly Finding[]> {
  const it = new Examination(notify);
  await it.check("credentials", () => checkCredentials(doctor).catch(refused));
  if (it.broken("credentials")) return it.findings;
  const functions = await it.read("functions", () => checkFunctions(doctor));
  if (!functions) return it.findings;
  const { env } = functions.control;

  await it.check("record", () => checkTable(doctor, env[Environment.holdTable] ?? ""));
  await checkLaunchPath(it, doctor, functions);
  await it.check("schedule group", () => checkScheduleGroup(doctor, env[Environment.scheduleGroup] ?? ""));
  await it.check("schedule role", () => checkScheduleRole(doctor, env[Environment.scheduleRoleArn] ?? ""));
  await checkClusterAndEntries(it, doctor, functions);
  await it.check("sweep", () => checkSweepRule(doctor, functions.sweep));
  await it.check("manifest", () => checkManifest(doctor, functions.control));
  const asked = await askInside(it, doctor);
  if (asked) await checkInside(it, doctor, functions, asked);
  await it.check("alarms", () => checkAlarms(doctor, doctor.clock.now()));
  await sendProbe(it, doctor, asked);
  return it.findings;
}

const refused = (error: unknown): Findings => {
  const failure = hopeless(error);
  if (!failure) throw error;
  return fail(failure.message, failure.remedy);
};

async function checkLaunchPath(it: Examination, doctor: Doctor, { hold, release }: Functions): Promise<void> {
  const rule = await it.read("rule", () => checkRule(doctor));
  const url = hold.env[Environment.launchQueueUrl] ?? "";
  const queue = await it.read("queue", () => checkQueue(doctor, url));
  if (!queue) return;
  if (rule) {
    await it.check("target", () => checkTarget(doctor, rule, queue.arn));
    await it.check("queue policy", () => checkQueuePolicy(doctor, queue, rule.arn));
  }
  await it.check("mapping", () => checkMapping(doctor, hold.name, queue.arn));
  const events = rule && { events: rule.targets.find(({ arn }) => arn === queue.arn)?.deadLetterArn };
  const arns = { launches: queue.deadLetterArn, ...events, invocations: release.failuresArn };
  await it.check("dead letters", () => checkDeadLetters(doctor, arns), ["target"]);
}

async function checkClusterAndEntries(it: Examination, doctor: Doctor, functions: Functions): Promise<void> {
  const cluster = await it.read("cluster", () => checkCluster(doctor, functions));
  if (cluster)
    await it.check("access entries", async () =>
      [await checkAccessEntries(doctor, functions), await checkAdminRight(doctor)].flat(),
    );
}

type Asked = Readonly<{ inside: Inside; bracket: Bracket }>;

/** Lets the control function check from inside. */
async function askInside(it: Examination, doctor: Doctor): Promise<Asked | undefined> {
  const before = doctor.clock.now();
  return it.read("code", async () => {
    const inside = parseInside(await doctor.ask({ do: "check" }));
    const bracket = { before, at: inside.at, after: doctor.clock.now() };
    return { findings: checkCode(inside.version), facts: { inside, bracket } };
  });
}

async function checkInside(
  it: Examination,
  doctor: Doctor,
  { control, sweep }: Functions,
  { inside, bracket }: Asked,
): Promise<void> {
  const { cluster, record } = inside;
  const now = inside.at;
  await it.check("login", () => checkLogin(inside), ["cluster", "access entries"]);
  if (cluster.works) {
    await it.check("rights", () => checkRights(cluster, control), ["access entries", "manifest"]);
    await it.check("policy", () => checkPolicy(cluster, control), ["access entries", "manifest", "rights"]);
    await it.check("nodes", () => checkNodes(cluster, now));
    await it.check("annotations", () => checkAnnotations(doctor, cluster));
  }
  await it.check("launches", () => checkLaunches(doctor, inside));
  await it.check("clock", () => checkClocks(bracket, cluster.works ? cluster.clusterTime : undefined));
  if (!record.works) {
    const unreadable = fail(
      `the functions cannot read it: ${record.because}`,
      "Check the table and their roles.",
    );
    await it.check("record", () => unreadable, ["record"]);
    return;
  }
  const group = control.env[Environment.scheduleGroup] ?? "";
  await it.check("holds", () => checkHolds(doctor, record.holds, group, now), [
    "schedule group",
    "login",
    "rights",
  ]);
  const needs = ["sweep", "record", "login", "access entries", "rights", "policy"] as const;
  await it.check("sweep", () => checkLastSweep(doctor, sweep, record.lastSweep, now), needs);
}

/** The links of a probe's way. */
const way = ["functions", "code", "record", "rule", "target", "queue", "queue policy", "mapping"] as const;

/** Sent only if every step works: a probe shows that something is broken, not what. */
async function sendProbe(it: Examination, doctor: Doctor, asked: Asked | undefined): Promise<void> {
  const cause = it.broken(...way);
  const skew = asked ? skewOf(asked.bracket) : 0;
  const answered = asked?.inside.version ?? version;
  await it.check(
    "probe",
    () => (cause ? skipped(`not sent: "${cause}" is broken`) : checkProbe(doctor, { skew, answered })),
    way,
  );
}
