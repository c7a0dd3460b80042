import { randomUUID } from "node:crypto";
import { after, type Duration, seconds } from "../../../lambda/core/duration.ts";
import type { ProbeAnswer } from "../../../lambda/core/ports.ts";
import { probeAnswer } from "../../../lambda/schemas/holds.ts";
import { fields, optional } from "../../../lambda/schemas/parse.ts";
import { parseAnswer } from "../../answers.ts";
import type { Ask } from "../../control/client.ts";
import { readLog } from "../aws/functions.ts";
import type { Check } from "../doctor.ts";
import { fail, ok } from "../finding.ts";

const giveUpAfter: Duration = seconds(45);
const pause: Duration = seconds(1);

/**
 * A probe travels the whole way of a launch: bus, queue, function, record. It shows that something is broken, not what, so
 * it is sent only if every step of its way works.
 */
export const checkProbe: Check = {
  link: "probe",
  follows: ["functions", "code", "record", "rule", "queue", "queue policy", "mapping"],
  async find({ doctor: { account, clock, sleep }, functions, rule }) {
    const launches = await rule;
    if (!launches) return [];
    const id = `doctor-${randomUUID()}`;
    const sentAt = clock.now();
    await account.putProbe(id, sentAt, launches.pattern);
    while (clock.now() < after(sentAt, giveUpAfter)) {
      const trip = await findProbe((request) => account.invoke("control", request), id);
      // Each time by one clock: this machine's may differ from that of AWS.
      if (trip)
        return ok(
          `came back after ${inSeconds(sentAt, clock.now())}, of which ${inSeconds(trip.queuedAt, trip.answeredAt)} from the queue to the function`,
        );
      await sleep(pause);
    }
    return fail(
      `a probe put on the bus did not arrive within ${giveUpAfter / seconds(1)} s`,
      readLog(functions.hold.name),
    );
  },
};

const inSeconds = (from: Date, to: Date): string =>
  `${((to.getTime() - from.getTime()) / 1_000).toFixed(1)} s`;

const probed = fields({ probe: optional(probeAnswer) });

/** A probe's way, once it has arrived. */
export const findProbe = async (ask: Ask, id: string): Promise<ProbeAnswer | undefined> =>
  parseAnswer(probed, await ask({ do: "probe", id })).probe;
