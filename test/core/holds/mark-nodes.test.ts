import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../../lambda/core/duration.ts";
import type { Hold } from "../../../lambda/core/holds/hold.ts";
import { armAndMark, markNodes } from "../../../lambda/core/holds/mark-nodes.ts";
import type { Marked } from "../../../lambda/core/ports.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

const at = (minute: number) => after(noon, minutes(minute));

/** Marks for this hold, while the record has that one. */
async function mark(
  marked: Partial<Marked>,
  about: Partial<Hold> = {},
  present: Hold | undefined = aHold(about),
) {
  const it = coreWorld({ marked, records: [aRecord(present && { hold: present })] });
  const result = await markNodes(it.context, { scope: "cluster", hold: aHold(about) });
  return { ...it, result, hold: it.record()?.hold, version: it.record()?.version };
}

describe("marking", () => {
  it("counts new and adopted marks in the record", async () => {
    const seen = [{ name: "a", instance: "i-1", nodePool: "default", joinedAt: noon }];
    const { hold, result } = await mark({ marked: 3, adopted: 1, seen }, { nodes: 5 });
    expect(hold?.nodes).toBe(9);
    expect(result).toMatchObject({ marked: 3, adopted: 1 });
  });

  it.each([
    ["all nodes are marked", {}, { unprotected: true }, undefined, [0]],
    ["time ran out", { left: true }, { unprotected: true }, true, []],
    ["a node failed", { failed: 1 }, { unprotected: true }, true, []],
    ["it was so before", {}, {}, undefined, []],
  ])(
    "records once that the hold protects everything: %s",
    async (_, marked, about, unprotected, recorded) => {
      const { hold, metrics } = await mark({ marked: 1, ...marked }, about);
      expect(hold?.unprotected).toBe(unprotected);
      expect(metrics.all("LaunchToProtectedMs")).toEqual(recorded);
    },
  );

  it("passes nodes that a look has let go, and so protects not everything", async () => {
    const { hold, calls } = await mark({ marked: 1 }, { unprotected: true, marksFrom: at(5) });
    expect(calls).toEqual([["mark", "cluster", holdId(1), { joinedFrom: at(4) }]]);
    expect(hold?.unprotected).toBe(true);
  });

  it.each([
    ["from the launch to the last mark", { causedAt: after(noon, -seconds(7)) }, 7_000],
    [
      "from the start of the hold, where later launches moved the cause",
      { causedAt: at(5), startedAt: after(noon, -seconds(3)) },
      3_000,
    ],
    ["as nothing where clocks differ", { causedAt: at(1), startedAt: at(2) }, 0],
  ])("measures %s", async (_, about, lag) => {
    const { metrics } = await mark({}, { unprotected: true, ...about });
    expect(metrics.all("LaunchToProtectedMs")).toEqual([lag]);
  });

  it.each([
    ["no node was changed", {}],
    ["time ran out before the first", { left: true }],
  ])("writes nothing, and leaves the marks, where %s", async (_, marked) => {
    const { calls, version } = await mark(marked);
    expect(version).toBe(1);
    expect(calls).toEqual([["mark", "cluster", holdId(1)]]);
  });

  it.each([
    ["is being released", aHold({ state: "releasing" })],
    ["is closed", undefined],
  ])("takes the marks off again when its hold %s by then", async (_, present) => {
    const { context, calls } = coreWorld({
      marked: { marked: 2, adopted: 1, userHeld: 4 },
      records: [aRecord({ ...(present && { hold: present }) })],
    });
    const result = await markNodes(context, { scope: "cluster", hold: aHold() });
    expect(calls).toEqual([
      ["mark", "cluster", holdId(1)],
      ["release", holdId(1)],
    ]);
    expect(result).toMatchObject({ marked: 0, adopted: 0, userHeld: 4 });
  });

  it("removes no mark where it set none and its hold is over", async () => {
    const { calls } = await mark({}, {}, aHold({ state: "releasing" }));
    expect(calls).toEqual([["mark", "cluster", holdId(1)]]);
  });

  it("lets the hold that replaced its own mark first, and then removes its own marks", async () => {
    const { calls, hold } = await mark({ marked: 2 }, {}, aHold({ id: holdId(2) }));
    expect(calls).toEqual([
      ["mark", "cluster", holdId(1)],
      ["mark", "cluster", holdId(2)],
      ["release", holdId(1)],
    ]);
    expect(hold).toMatchObject({ id: holdId(2), nodes: 2 });
  });

  describe("marking nodes that joined", () => {
    const seenAt = (second: number) => {
      const node = {
        name: "a",
        instance: "i-1",
        nodePool: "default",
        joinedAt: after(noon, seconds(second)),
      };
      return { seen: [{ ...node, joinedAt: at(-60) }, node] };
    };
    const unjoined = { burstFrom: noon, askedUntil: at(30) };

    it("after the first launch notes that, and the expiry that launches asked for counts", async () => {
      const { hold } = await mark(seenAt(-59), unjoined);
      expect(hold).toEqual(aHold({ burstFrom: noon, joined: true, expiresAt: at(30) }));
    });

    it("before the first launch notes nothing, and neither does one of a hold without launches", async () => {
      expect((await mark(seenAt(-60), unjoined)).version).toBe(1);
      expect((await mark(seenAt(-59))).version).toBe(1);
    });
  });
});

describe("the start of a hold", () => {
  it("sets the one-shot before it marks, and notes it even if there is no node", async () => {
    const { context, calls, record } = coreWorld({ records: [aRecord({ hold: aHold() })] });
    await armAndMark(context, "cluster", aHold());
    expect(calls).toEqual([
      ["arm", "cluster", holdId(1), at(20)],
      ["mark", "cluster", holdId(1)],
    ]);
    expect(record()?.hold?.armedFor).toEqual(at(20));
  });

  it("keeps a one-shot that was noted meanwhile", async () => {
    const extended = aHold({ expiresAt: at(25), armedFor: at(25) });
    const { context, record } = coreWorld({ records: [aRecord({ hold: extended })] });
    await armAndMark(context, "cluster", aHold());
    expect(record()).toEqual(aRecord({ version: 1, hold: extended }));
  });

  it("sets no second one-shot", async () => {
    const hold = aHold({ armedFor: at(20) });
    const { context, calls } = coreWorld({ records: [aRecord({ hold })] });
    await armAndMark(context, "cluster", hold);
    expect(calls).toEqual([["mark", "cluster", holdId(1)]]);
  });
});
