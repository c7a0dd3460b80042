import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../../lambda/core/duration.ts";
import type { Hold } from "../../../lambda/core/holds/hold.ts";
import { awaitPendingNodes, delayOf, markJoinedNodes } from "../../../lambda/core/holds/mark-nodes.ts";
import type { Marked } from "../../../lambda/core/ports.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

const launch = (instance: string, minutesAgo = 0) => ({
  instance,
  launchedAt: after(noon, -minutes(minutesAgo)),
});
const nodeOf = (instance: string) => ({ instance, name: instance, nodePool: "default", joinedAt: noon });
const marking = { marked: 0, adopted: 0, userHeld: 0, failed: 0, left: false, seen: [] };

/** What is queued after a marking with this outcome. */
async function queuedAfter(
  awaited: readonly ReturnType<typeof launch>[],
  { attempt = 1, ...marked }: Partial<Marked> & { attempt?: number } = {},
) {
  const { context, queued } = coreWorld();
  await awaitPendingNodes(context, { scope: "cluster", awaited, attempt }, { ...marking, ...marked });
  return queued;
}

describe("a node that has not joined", () => {
  it("is awaited again, often at first and seldom later", () => {
    const expected = [15, 15, 20, 30, 30, 60, 60, 120, 120, 120].map(seconds);
    expect(expected.map((_, attempt) => delayOf(attempt))).toEqual(expected);
  });

  it("is awaited until it has joined, or has taken too long", async () => {
    const awaited = [launch("i-1"), launch("i-2"), launch("i-3", 10), launch("i-4", 9.9)];
    expect(await queuedAfter(awaited, { seen: [nodeOf("i-2")] })).toEqual([
      {
        followUp: { kind: "pendingNodes", scope: "cluster", awaited: [awaited[0], awaited[3]], attempt: 2 },
        delay: seconds(15),
      },
    ]);
  });

  it("is awaited once in any case: after a crash that check marks the other nodes", async () => {
    const old = launch("i-1", 60);
    const [first] = await queuedAfter([old], { attempt: 0 });
    expect(first?.followUp).toMatchObject({ awaited: [old], attempt: 1 });
    expect(await queuedAfter([old], { attempt: 1 })).toEqual([]);
  });

  it("counts as tried only after a marking", async () => {
    const { context, queued } = coreWorld({ records: [aRecord({ hold: aHold() })] });
    const pending = { scope: "cluster", awaited: [launch("i-1")], attempt: 0 } as const;
    await awaitPendingNodes(context, pending);
    await markJoinedNodes(context, pending);
    expect(queued.map(({ followUp }) => followUp.attempt)).toEqual([0, 2]);
  });
});

describe("a marking", () => {
  it("that is finished needs no further one", async () => {
    expect(await queuedAfter([], { marked: 7 })).toEqual([]);
  });

  it("that did not happen needs no further one either", async () => {
    const { context, queued } = coreWorld();
    await awaitPendingNodes(context, { scope: "cluster", awaited: [], attempt: 0 });
    expect(queued).toEqual([]);
  });

  it.each([
    ["at once while it makes progress", { left: true, marked: 7 }, 0],
    ["at once while it adopts", { left: true, adopted: 7 }, 0],
    ["after a while when it makes none: the API server asks for patience", { left: true }, seconds(15)],
    ["after a while where nodes failed", { failed: 1, marked: 7 }, seconds(15)],
  ])("that ran out of time continues %s", async (_, marked, delay) => {
    expect((await queuedAfter([], marked)).map((one) => one.delay)).toEqual([delay]);
  });

  it("is left to the sweep where nodes fail again and again", async () => {
    expect(await queuedAfter([], { failed: 1, attempt: 7 })).toHaveLength(1);
    expect(await queuedAfter([], { failed: 1, attempt: 8 })).toEqual([]);
  });
});

describe("nodes that joined", () => {
  async function check(hold: Hold | undefined, rules: Partial<Rules> = {}) {
    const { context, calls, queued } = coreWorld({
      records: [aRecord({ ...(hold && { hold }) })],
      rules,
    });
    await markJoinedNodes(context, { scope: "cluster", awaited: [launch("i-1")], attempt: 3 });
    return { calls, attempts: queued.map(({ followUp }) => followUp.attempt) };
  }

  it("are marked for the running hold, and the others are still awaited", async () => {
    expect(await check(aHold())).toEqual({ calls: [["mark", "cluster", holdId(1)]], attempts: [4] });
  });

  it("are not marked where the scope has no record", async () => {
    const { context, calls } = coreWorld();
    await markJoinedNodes(context, { scope: "cluster", awaited: [launch("i-1")], attempt: 3 });
    expect(calls).toEqual([]);
  });

  it.each<[string, Hold | undefined, Partial<Rules>]>([
    ["is none", undefined, {}],
    ["is being released", aHold({ state: "releasing" }), {}],
    ["is due", aHold({ expiresAt: noon }), {}],
    ["is of another setting of scope", aHold(), { scope: "nodepool" }],
  ])("are neither marked nor awaited where the hold %s", async (_, hold, rules) => {
    expect(await check(hold, rules)).toEqual({ calls: [], attempts: [] });
  });
});
