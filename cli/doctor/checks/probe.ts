import { randomUUID } from "node:crypto";
import { after, type Duration, seconds } from "../../../lambda/core/duration.ts";
import type { ProbeAnswer } from "../../../lambda/core/ports.ts";
import { functionName } from "../../../lambda/names.ts";
import { probeAnswer } from "../../../lambda/schemas/holds.ts";
import { fields, optional } from "../../../lambda/schemas/parse.ts";
import { parseAnswer } from "../../answers.ts";
import type { Ask } from "../../control/client.ts";
import { about } from "../../terminal/text.ts";
import { type Doctor, redeploy } from "../doctor.ts";
import { type Findings, type Found, fail, ok, warn } from "../finding.ts";

/** When a moment of another clock was taken between two of ours. */
export type Bracket = Readonly<{ before: Date; at: Date; after: Date }>;

const tolerable: Duration = seconds(30);

/** How far the other clock is ahead of ours at least; a difference that the round trip explains counts as none. */
export function skewOf({ before, at, after }: Bracket): Duration {
  return Math.min(0, at.getTime() - before.getTime()) + Math.max(0, at.getTime() - after.getTime());
}

/** This machine, the functions and the cluster agree on what time it is. */
export function checkClocks(functions: Bracket, clusterTime: Date | undefined): Findings {
  const here = skewOf(functions);
  const findings: Found[] = [];
  if (Math.abs(here) > tolerable) {
    const what = `this machine's clock is ${about(Math.abs(here))} ${here > 0 ? "behind" : "ahead of"} the functions'`;
    findings.push(warn(what, "Set it right (NTP): AWS refuses signatures that are five minutes off."));
  }
  // The cluster writes whole seconds, and answered some time after the check began.
  const rest = functions.after.getTime() - functions.before.getTime() + seconds(1);
  const there = clusterTime ? clusterTime.getTime() - functions.at.getTime() : 0;
  if (there > tolerable + rest || there < -tolerable) {
    const what = `the cluster's clock is ${about(Math.abs(there))} ${there > 0 ? "ahead of" : "behind"} the functions'`;
    const remedy =
      "The sweep compares nodes' ages with the functions' clock: ask who runs the control plane.";
    findings.push(warn(what, remedy));
  }
  return findings.length > 0 ? findings : ok("this machine, the functions and the cluster agree");
}

const giveUpAfter: Duration = seconds(45);
const pause: Duration = seconds(1);

/** `skew` is our clock's; `answered` is the version that the control function answered. */
type Before = Readonly<{ skew: Duration; answered: string }>;

/** A probe travels the whole way of a launch: bus, queue, function, record. */
export async function checkProbe(doctor: Doctor, { skew, answered }: Before): Promise<Findings> {
  const id = `doctor-${randomUUID()}`;
  const sentAt = after(doctor.clock.now(), skew);
  await doctor.account.putProbe(id, sentAt);
  const end = after(doctor.clock.now(), giveUpAfter);
  for (;;) {
    const trip = await findProbe(doctor.ask, id);
    if (trip && trip.version !== answered) return mixed(doctor, trip.version, answered);
    if (trip) return arrived(trip, sentAt, after(doctor.clock.now(), skew));
    if (doctor.clock.now() >= end) break;
    await doctor.sleep(pause);
  }
  const what = `a probe put on the bus did not arrive within ${giveUpAfter / seconds(1)} s`;
  const remedy = `Read the hold function's log: aws logs tail /aws/lambda/${functionName(doctor.cluster, "hold")} --since 10m`;
  return fail(what, remedy);
}

const mixed = (doctor: Doctor, hold: string, control: string): Found => ({
  ...fail(`the hold function's code is version ${hold}, the control function's ${control}`, redeploy(doctor)),
  link: "code",
});

function arrived(trip: ProbeAnswer, sentAt: Date, seenAt: Date): Found {
  const hops = [
    ["bus to queue", sentAt, trip.queuedAt],
    ["queue to function", trip.queuedAt, trip.answeredAt],
    ["function to record", trip.answeredAt, seenAt],
  ] as const;
  const times = hops.map(([hop, from, to]) => `${hop} ${milliseconds(to.getTime() - from.getTime())}`);
  return ok(times.join(", "));
}

// Clocks of different machines may put a short hop before its beginning.
const milliseconds = (duration: Duration): string =>
  duration >= 10_000 ? `${(duration / 1_000).toFixed(1)} s` : `${Math.max(0, Math.round(duration))} ms`;

const probed = fields({ probe: optional(probeAnswer) });

/** A probe's way, once it has arrived. */
export const findProbe = async (ask: Ask, id: string): Promise<ProbeAnswer | undefined> =>
  parseAnswer(probed, await ask({ do: "probe", id })).probe;
