import { expect, it } from "vitest";
import { after, minutes } from "../../../lambda/core/duration.ts";
import { armRelease } from "../../../lambda/core/holds/mark-nodes.ts";
import { wholeCluster } from "../../../lambda/core/scope.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

const at = (minute: number) => after(noon, minutes(minute));

it.each([
  ["is noted", aHold(), aHold({ armedFor: at(20) })],
  ["is noted in place of an earlier one", aHold({ armedFor: at(5) }), aHold({ armedFor: at(20) })],
  ["is not written where it is noted", aHold({ armedFor: at(20) }), undefined],
  ["is not noted in another hold", aHold({ id: holdId(2) }), undefined],
  ["is not noted when its hold is closed by then", undefined, undefined],
])("a one-shot that is set %s", async (_, hold, written) => {
  const { context, calls, record } = coreWorld({ records: [aRecord(hold && { hold })] });
  await armRelease(context, { scope: wholeCluster, hold: aHold(), at: at(20) });
  expect(calls).toEqual([["arm", "cluster", holdId(1), at(20)]]);
  const present = hold ? aRecord({ version: 1, hold }) : aRecord({ version: 1 });
  expect(record()).toEqual(written ? aRecord({ version: 2, hold: written }) : present);
});

it.each([
  ["and the one for its end, where there is none", {}, [at(6), at(20)], at(20)],
  [
    "and the one for its new end, where that lies behind the old one's",
    { armedFor: at(6) },
    [at(6), at(20)],
    at(20),
  ],
  ["alone while the one for an earlier end lies ahead", { armedFor: at(7) }, [at(6)], at(7)],
])("a look sets the one-shot of the next %s", async (_, about, times, armedFor) => {
  const hold = aHold(about);
  const { context, calls, record } = coreWorld({ records: [aRecord({ hold })] });
  await armRelease(context, { scope: wholeCluster, hold, at: at(6) });
  expect(calls).toEqual(times.map((time) => ["arm", "cluster", holdId(1), time]));
  expect(record()?.hold?.armedFor).toEqual(armedFor);
});
