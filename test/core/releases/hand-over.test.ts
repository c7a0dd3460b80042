import { describe, expect, it } from "vitest";
import { after, minutes } from "../../../lambda/core/duration.ts";
import { armRelease } from "../../../lambda/core/releases/arm-release.ts";
import { type Ending, handOver, outlastingHolds } from "../../../lambda/core/releases/hand-over.ts";
import { wholeCluster } from "../../../lambda/core/scope.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

const at = (minute: number) => after(noon, minutes(minute));
const pool = "nodepool/batch" as const;
const records = [
  aRecord({ hold: aHold({ id: holdId(1) }) }),
  aRecord({ scope: pool, hold: aHold({ id: holdId(2) }) }),
  aRecord({ scope: "nodepool/web", hold: aHold({ id: holdId(3), state: "releasing" }) }),
  aRecord({ scope: "nodepool/gpu" }),
];

const cluster: Ending = { scope: wholeCluster, hold: aHold({ id: holdId(8) }) };
const batch: Ending = { scope: pool, hold: aHold({ id: holdId(9) }) };
const web: Ending = { scope: "nodepool/web", hold: aHold({ id: holdId(3), state: "releasing" }) };
const gpu: Ending = { scope: "nodepool/gpu", hold: aHold({ id: holdId(4) }) };
const markedBy = { cluster: ["mark", wholeCluster, holdId(1)], batch: ["mark", pool, holdId(2)] };
const both = [markedBy.cluster, markedBy.batch];

describe.each(["cluster", "nodepool"] as const)("with scope=%s, the nodes of a hold that ends", (scope) => {
  it.each([
    ["of the whole cluster go to its next hold and to those of its NodePools", [cluster], both],
    ["of one NodePool go to its next hold and to that of the whole cluster", [batch], both],
    ["of one NodePool that has no other go to that of the whole cluster", [web], [markedBy.cluster]],
    ["among others go to the holds beside each", [cluster, web], both],
    ["of several NodePools go to the holds beside each", [web, batch], both],
    ["of several NodePools go to no hold of another NodePool", [web, gpu], [markedBy.cluster]],
    ["go nowhere when none ends", [], []],
  ])("%s", async (_, endings, marks) => {
    const { context, calls } = coreWorld({ records, rules: { scope } });
    await handOver(context, endings);
    expect(calls.map((call) => call.slice(0, 3))).toEqual(marks);
  });
});

it("takes nodes over from no hold that goes on", async () => {
  const { context, calls } = coreWorld({ records });
  await handOver(context, [web]);
  expect(calls).toEqual([[...markedBy.cluster, holdId(1), holdId(2)]]);
});

it("hands no nodes to the hold that ends itself, where its record still says that it runs", async () => {
  const { context, calls } = coreWorld({ records });
  await handOver(context, [{ scope: pool, hold: aHold({ id: holdId(2) }) }]);
  expect(calls.map((call) => call.slice(0, 3))).toEqual([markedBy.cluster]);
});

it.each([
  ["stay where the hold goes on", 1, aHold({ extensions: 1 }), []],
  ["stay where it took over none", 0, undefined, []],
  ["come off where it ended", 1, undefined, [[holdId(1)]]],
  ["come off where it is being released", 1, aHold({ state: "releasing" }), [[holdId(1)]]],
  ["stay for the hold that took its place", 1, aHold({ id: holdId(5) }), [[holdId(1), holdId(5)]]],
])("marks of a hold that takes nodes over %s", async (_, adopted, present, released) => {
  const { context, calls, world } = coreWorld({ records, marked: { adopted } });
  const { mark } = context.nodes;
  context.nodes.mark = async (...what) => {
    await world.holds.replace(aRecord(present && { hold: present }));
    return mark(...what);
  };
  await handOver(context, [batch]);
  expect(calls.filter(([call]) => call === "release").map(([, ...what]) => what)).toEqual(released);
});

it("marks of a hold that takes nodes over stay where its record cannot be read any more", async () => {
  const { context, calls, world } = coreWorld({ records, marked: { adopted: 1 } });
  const { mark } = context.nodes;
  context.nodes.mark = async (...what) => {
    await world.holds.spoil(wholeCluster);
    return mark(...what);
  };
  await handOver(context, [web]);
  expect(calls.map(([call]) => call)).toEqual(["mark"]);
});

it("an error that says nothing of the record fails the release, which is tried again", async () => {
  const { context, world } = coreWorld({ records, marked: { adopted: 1 } });
  const { mark } = context.nodes;
  context.nodes.mark = async (...what) => {
    world.holds.find = async () => Promise.reject(new Error("throttled"));
    return mark(...what);
  };
  await expect(handOver(context, [web])).rejects.toThrow("throttled");
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
  await armRelease(context, { scope: wholeCluster, hold: aHold(), at: at(20) });
  expect(calls).toEqual([["arm", "cluster", holdId(1), at(20)]]);
  expect(record()).toEqual(written ? aRecord({ version: 2, hold: written }) : { ...before, version: 1 });
});

it("a one-shot of a hold that is closed by then is noted nowhere", async () => {
  const { context, record } = coreWorld({ records: [aRecord()] });
  await armRelease(context, { scope: wholeCluster, hold: aHold(), at: at(20) });
  expect(record()).toEqual(aRecord({ version: 1 }));
});
