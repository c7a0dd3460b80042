import { createHash } from "node:crypto";
import { holderName } from "../lambda/core/marks/keys.ts";

/** What is deployed as a function of its own; the bundle and the entry file carry the same name. */
export const parts = ["hold", "release", "sweep", "control", "cluster-access"] as const;
export type Part = (typeof parts)[number];

/** Of a function, a schedule group and a rule. */
const longestName = 64;

/** The fixed name of a function of this cluster, for example karpenter-node-holder-prod-release. */
export const functionName = (cluster: string, part: Part): string =>
  nameFor(cluster, `-${part}`, longestName);

export const scheduleGroupName = (cluster: string): string => nameFor(cluster, "", longestName);

/** A rule whose events come into the launch queue. The queue's policy names it, and so can be there before it. */
export const ruleName = (cluster: string, what: string): string => nameFor(cluster, `-${what}`, longestName);

/** Alarms and dashboard have room for any cluster's name. */
export const alarmName = (cluster: string, what: string): string => `${holderName}-${cluster}-${what}`;

/** Every alarm: the heading of its entry in docs/operating.md, and what it watches where that is more than one thing. */
const alarms = {
  "dead-letters": ["launches", "events", "invocations"],
  "function-errors": ["hold", "release", "sweep", "control"],
  "release-overdue": [],
  "marks-orphaned": [],
  "patches-failing": [],
  "rights-missing": [],
  "hold-over-cap": [],
  "sweep-silent": [],
  "slow-protection": [],
} as const satisfies Record<string, readonly string[]>;
export type AlarmHeading = keyof typeof alarms;

/** The names of all alarms of a cluster. A prefix would also find those of a cluster whose name begins with this one. */
export const alarmNames = (cluster: string): readonly string[] =>
  Object.entries(alarms).flatMap(([heading, of]) =>
    of.length > 0 ? of.map((one) => alarmName(cluster, `${heading}-${one}`)) : [alarmName(cluster, heading)],
  );
export const dashboardName = (cluster: string): string => `${holderName}-${cluster}`;

/** The stack's name in the repository's own app; CloudFormation knows no underscores. */
export function stackName(cluster: string): string {
  const name = nameFor(cluster.replaceAll("_", "-"), "", 128);
  return cluster.includes("_") ? `${name.slice(0, 119)}-${fingerprint(cluster)}` : name;
}

// A name cut short could be another cluster's, so it ends in a fingerprint of the whole.
function nameFor(cluster: string, suffix: string, longest: number): string {
  const whole = `${holderName}-${cluster}${suffix}`;
  if (whole.length <= longest) return whole;
  const end = `-${fingerprint(cluster)}${suffix}`;
  return whole.slice(0, longest - end.length) + end;
}

export const fingerprint = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 8);
