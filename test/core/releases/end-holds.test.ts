import { describe, expect, it } from "vitest";
import { after, minutes } from "../../../lambda/core/duration.ts";
import { nothingReleased } from "../../../lambda/core/holds/end-hold.ts";
import { endHolds } from "../../../lambda/core/releases/end-holds.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord } from "../../support/builders.ts";
import { toSweep } from "../../support/sweep-world.ts";

const [first, second, third] = [holdId(1), holdId(2), holdId(3)];
const ending = (scope: "cluster" | "nodepool/a", id: string, expiresAt = after(noon, -minutes(1))) => ({
  scope,
  hold: aHold({ id, state: "releasing", expiresAt }),
});
const [whole, pool] = [ending("cluster", first), ending("nodepool/a", second)];
const end = async (endings: Parameters<typeof endHolds>[1], facts: Parameters<typeof toSweep>[0] = {}) => {
  const it = toSweep({ records: endings.map(({ scope, hold }) => aRecord({ scope, hold })), ...facts });
  return { ...it, answer: await endHolds(it.context, endings) };
};

describe("holds that end", () => {
  it("are closed once one pass has removed their marks, and return the counts", async () => {
    const taken = { [first]: { released: 3 }, [second]: { released: 1, kept: 1 } };
    const { named, record, answer } = await end([whole, pool], { taken });
    expect([named("release all"), named("release")]).toEqual([[[first, second]], []]);
    expect([record()?.hold, record("nodepool/a")?.hold]).toEqual([undefined, undefined]);
    expect(answer).toEqual({ ...nothingReleased, released: 4, kept: 1 });
  });

  it.each([
    ["some nodes could not be changed", { taken: { [first]: { failed: 1 } } }],
    ["the pass over the nodes was not finished", { left: true }],
    ["the pass over its nodes was not finished", { taken: { [first]: { left: true } } }],
  ])("go on in a minute while %s", async (_, facts) => {
    const { named, record, answer } = await end([whole], facts);
    expect(record()?.hold?.state).toBe("releasing");
    expect(named("arm")).toEqual([["cluster", first, after(noon, minutes(1))]]);
    expect(answer.failed > 0 || answer.left).toBe(true);
  });

  it("are closed also when another one fails", async () => {
    const { record } = await end([whole, pool], { taken: { [first]: { failed: 1 } } });
    expect([record()?.hold?.state, record("nodepool/a")?.hold]).toEqual(["releasing", undefined]);
  });

  it("have their lag measured at every pass; one that is ended before its time has none", async () => {
    const early = ending("nodepool/a", second, after(noon, minutes(1)));
    const { metrics } = await end([whole, early], { left: true });
    expect(metrics.all("ReleaseLagMs")).toEqual([minutes(1), 0]);
  });
});

describe("marks of other holds", () => {
  const records = [aRecord({ hold: aHold() })];

  it("count as held where a record names their hold, and are removed where none does", async () => {
    const others = { [first]: 4, [second]: 2, [third]: 1 };
    const released = { released: 2, kept: 3, failed: 4 };
    const { named, metrics, answer } = await end([], { records, others, released });
    expect(metrics.all("NodesHeldNow")).toEqual([4]);
    expect(named("release")).toEqual([[second], [third]]);
    expect(metrics.all("OrphansFound")).toEqual([9, 9]);
    expect(answer).toEqual({ released: 4, kept: 6, failed: 8, left: false });
  });

  it("are not counted as orphans when they are gone by then", async () => {
    const { metrics } = await end([], { others: { [second]: 2 } });
    expect(metrics.all("OrphansFound")).toEqual([]);
  });

  it("are not orphaned when their hold is recorded after the nodes were read", async () => {
    const { context, world, named } = toSweep({ others: { [first]: 1 } });
    const { releaseAll } = context.nodes;
    context.nodes.releaseAll = async (...what) => {
      const found = await releaseAll(...what);
      await world.holds.put(aRecord({ hold: aHold() }));
      return found;
    };
    await endHolds(context, []);
    expect(named("release")).toEqual([]);
  });
});
