import { randomUUID } from "node:crypto";
import { after, type Duration, seconds } from "../../../lambda/core/duration.ts";
import type { ProbeAnswer } from "../../../lambda/core/ports.ts";
import { functionName } from "../../../lambda/names.ts";
import { probeAnswer } from "../../../lambda/schemas/holds.ts";
import { fields, optional } from "../../../lambda/schemas/parse.ts";
import { parseAnswer } from "../../answers.ts";
import type { Ask } from "../../control/client.ts";
import { about } from "../../terminal/text.ts";
import type { Bracket, Check } from "../facts.ts";
import { type Found, fail, ok, warn } from "../finding.ts";

const tolerable: Duration = seconds(30);

/** How far the other clock is ahead of ours at least; a difference that the round trip explains counts as none. */
export function skewOf({ before, at, after }: Bracket): Duration {
  return Math.min(0, at.getTime() - before.getTime()) + Math.max(0, at.getTime() - after.getTime());
}

/** This machine, the functions and the cluster agree on what time it is. */
export const checkClock: Check = {
  link: "clock",
  async find({ answers }) {
    const { bracket, inside } = await answers.control();
    const clusterTime = inside.cluster.works ? inside.cluster.clusterTime : undefined;
    const here = skewOf(bracket);
    const found: Found[] = [];
    if (Math.abs(here) > tolerable) {
      const what = `this machine's clock is ${about(Math.abs(here))} ${here > 0 ? "behind" : "ahead of"} the functions'`;
      found.push(warn(what, "Set it right (NTP): AWS refuses signatures that are five minutes off."));
    }
    // The cluster writes whole seconds, and answered some time after the check began.
    const rest = bracket.after.getTime() - bracket.before.getTime() + seconds(1);
    const there = clusterTime ? clusterTime.getTime() - bracket.at.getTime() : 0;
    if (there > tolerable + rest || there < -tolerable) {
      const what = `the cluster's clock is ${about(Math.abs(there))} ${there > 0 ? "ahead of" : "behind"} the functions'`;
      const remedy =
        "The sweep compares nodes' ages with the functions' clock: ask who runs the control plane.";
      found.push(warn(what, remedy));
    }
    return found.length > 0 ? found : ok("this machine, the functions and the cluster agree");
  },
};

const giveUpAfter: Duration = seconds(45);
const pause: Duration = seconds(1);

/**
 * A probe travels the whole way of a launch: bus, queue, function, record. It shows that something is broken, not what, so
 * it is sent only if every step of its way works.
 */
export const checkProbe: Check = {
  link: "probe",
  onlyIf: ["functions", "code", "record", "rule", "target", "queue", "queue policy", "mapping"],
  async find({ doctor, answers }) {
    const { account, clock, sleep, cluster } = doctor;
    const skew = await answers.control().then(({ bracket }) => skewOf(bracket));
    const id = `doctor-${randomUUID()}`;
    const sentAt = after(clock.now(), skew);
    await account.putProbe(id, sentAt);
    const end = after(clock.now(), giveUpAfter);
    for (;;) {
      const trip = await findProbe((request) => account.invoke("control", request), id);
      if (trip) return arrived(trip, sentAt, after(clock.now(), skew));
      if (clock.now() >= end) break;
      await sleep(pause);
    }
    const what = `a probe put on the bus did not arrive within ${giveUpAfter / seconds(1)} s`;
    const remedy = `Read the hold function's log: aws logs tail /aws/lambda/${functionName(cluster, "hold")} --since 10m`;
    return fail(what, remedy);
  },
};

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
