import { expect, it } from "vitest";
import { after, minutes } from "../../lambda/core/duration.ts";
import { armRelease } from "../../lambda/core/releases/arm-release.ts";
import { handOver, outlastingHolds } from "../../lambda/core/releases/hand-over.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aHold, aRecord } from "../support/builders.ts";
import { coreWorld } from "../support/core-world.ts";

const at = (minute: number) => after(noon, minutes(minute));
const pool = "nodepool/batch" as const;
const records = [
  aRecord({ hold: aHold({ id: holdId(1) }) }),
  aRecord({ scope: pool, hold: aHold({ id: holdId(2) }) }),
  aRecord({ scope: "nodepool/web", hold: aHold({ id: holdId(3), state: "releasing" }) }),
  aRecord({ scope: "nodepool/gpu" }),
];

it("hands the nodes of a hold of another setting to the running holds of this one", async () => {
  const { context, calls } = coreWorld({ records, rules: { scope: "nodepool" } });
  await handOver(context, { scope: "cluster", hold: aHold() });
  expect(calls).toEqual([["mark", pool, holdId(2)]]);
});

it("hands nothing over where the hold's own scope is still kept", async () => {
  const { context, calls } = coreWorld({ records });
  await handOver(context, { scope: "cluster", hold: aHold() });
  expect(calls).toEqual([]);
});

it.each([
  ["cluster", [holdId(2)]],
  ["nodepool", [holdId(1)]],
] as const)("knows the holds that outlast a change of scope to %s", async (scope, ids) => {
  const { context } = coreWorld({ records, rules: { scope } });
  expect([...(await outlastingHolds(context))]).toEqual(ids);
});

it("knows none where the whole cluster has no record", async () => {
  const { context } = coreWorld({ rules: { scope: "nodepool" } });
  expect([...(await outlastingHolds(context))]).toEqual([]);
});

it.each([
  ["notes it", aHold(), aHold({ armedFor: at(20) })],
  ["notes a later one in its place", aHold({ armedFor: at(5) }), aHold({ armedFor: at(20) })],
  ["writes nothing where it is noted", aHold({ armedFor: at(20) }), undefined],
  ["notes nothing in another hold", aHold({ id: holdId(2) }), undefined],
])("a one-shot that is set: %s", async (_, present, written) => {
  const before = aRecord({ hold: present });
  const { context, calls, record } = coreWorld({ records: [before] });
  await armRelease(context, "cluster", aHold(), at(20));
  expect(calls).toEqual([["arm", "cluster", holdId(1), at(20)]]);
  expect(record()).toEqual(written ? aRecord({ version: 1, hold: written }) : before);
});

it("a one-shot of a hold that is closed by then is noted nowhere", async () => {
  const { context, record } = coreWorld({ records: [aRecord()] });
  await armRelease(context, "cluster", aHold(), at(20));
  expect(record()).toEqual(aRecord());
});
