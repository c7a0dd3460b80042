import { describe, expect, it } from "vitest";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { holdIdOf } from "../../lambda/core/marks/hold-id.ts";
import { pause } from "../../lambda/core/operate/release.ts";
import { nothingChanged } from "../../lambda/core/plan-nodes.ts";
import { reconcile } from "../../lambda/core/reconcile.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { aHeldRecord, aHold, aRecord, aRequest } from "../support/builders.ts";
import { aWorld, heldByOne } from "./pass-world.ts";
import { at } from "./plans.ts";

const ended = { at: at(20), because: "the hold expired" };

describe("a pass", () => {
  it("after a launch records it, marks the nodes, sets one one-shot and sends one message", async () => {
    const { world, launch, pass, record, looks } = aWorld();
    const { changed } = await pass([launch()]);
    expect(changed).toEqual({ ...nothingChanged, marked: 2 });
    expect(world.nodes.marks()).toEqual(heldByOne);
    expect(record()).toMatchObject({ hold: { id: holdId(1) }, looks: { oneShot: at(20) } });
    expect(record()?.launchHold).not.toHaveProperty("isConstant");
    expect(looks()).toEqual([at(20)]);
    expect(world.queue.messages.map(({ body }) => JSON.parse(body))).toEqual([
      { followUp: { kind: "scope", scope: "cluster", isLook: false } },
    ]);
  });

  it("of a NodePool reads its own record and the cluster's, and the lists of this NodePool alone", async () => {
    const { world, context } = aWorld([], { scope: "nodepool" });
    world.nodes.add("c", { pool: "batch" });
    const launches = [{ instance: "i-1", launchedAt: at(0), nodePool: "batch" }];
    await reconcile(context(), "nodepool/batch", { launches });
    expect(world.calls.toSorted()).toEqual(
      ["arm", "claims", "find", "find", "list", "patch c", "write"].toSorted(),
    );
  });

  it("that finds everything as it should be reads, and changes nothing", async () => {
    const { world, launch, pass } = aWorld();
    await pass([launch()]);
    world.calls.length = 0;
    expect(await pass()).toMatchObject({ isChanged: false });
    expect(world.calls.toSorted()).toEqual(["claims", "find", "list"]);
  });

  it("at the end of a hold removes the marks, then closes it and keeps it in history", async () => {
    const { world, pass, record } = aWorld([aHeldRecord()]);
    world.time = at(20.5);
    expect(await pass()).toMatchObject({ changed: { released: 2 } });
    expect([world.nodes.marks(), record()?.hold, record()?.looks]).toEqual([{}, undefined, {}]);
    expect(world.journal.past.get(holdId(1))).toMatchObject({
      endedBecause: "the hold expired",
      endedAt: at(20.5),
    });
    expect(world.journal.past.get(holdId(1))).not.toHaveProperty("observed");
    expect(world.metrics.all("ReleaseLagMs")).toEqual([seconds(30)]);
  });

  it("for a new hold keeps the one before in history, whose marks were still being removed", async () => {
    const { world, launch, pass } = aWorld([aRecord({ hold: aHold({ ended }) })]);
    world.time = at(21);
    await pass([launch()]);
    expect([...world.journal.past.keys()]).toEqual([holdId(1)]);
    expect(Object.values(world.nodes.marks())).not.toContain(holdId(1));
  });

  it("holds drifted nodes where somebody asked for it", async () => {
    const { world, pass } = aWorld([aRecord({ requests: [aRequest()] })]);
    for (const name of ["a", "b"])
      world.nodeClaims.add({ name, node: name, createdAt: at(-9), driftedAt: at(-5) });
    await pass();
    expect(world.nodes.marks()).toEqual(heldByOne);
  });

  it("looks again when the next drifted node has waited for long enough", async () => {
    const { world, launch, pass, looks } = aWorld([], { driftWait: minutes(10) });
    world.nodeClaims.add({ name: "a", node: "a", createdAt: at(-9), driftedAt: at(-5) });
    await pass([launch()]);
    expect([world.nodes.marks(), looks()]).toEqual([heldByOne, [at(5)]]);
  });

  it("without NodeClaims takes no node for a launch: only a sweep does", async () => {
    const { world, context, record } = aWorld();
    world.nodeClaims.refusedWith = 404;
    world.nodes.add("young", { age: minutes(1) });
    for (const isSweep of [false, true]) {
      await reconcile(context(), "cluster", isSweep ? { isSweep } : {});
      expect(Boolean(record()?.hold)).toBe(isSweep);
    }
  });

  it("with mode=observe records all of it and changes no node", async () => {
    const { world, launch, pass, record } = aWorld([], { mode: "observe" });
    await pass([launch()]);
    world.nodes.remove("a");
    world.time = at(10);
    await pass();
    world.time = at(20);
    await pass();
    expect(world.calls.filter((call) => call.startsWith("patch"))).toEqual([]);
    expect(world.journal.past.get(holdId(1))).toMatchObject({ nodes: 2, observed: { removed: 1 } });
    expect(record()?.hold).toBeUndefined();
  });
});

describe("a record that another function writes meanwhile", () => {
  it("is read again, and what both found out counts", async () => {
    const { world, launch, pass, record } = aWorld();
    const { write } = world.holds;
    world.holds.write = async (wanted) => {
      world.holds.write = write;
      await world.holds.put(aRecord({ requests: [aRequest()] }));
      return world.holds.write(wanted);
    };
    const { until } = await pass([launch()]);
    expect(until).toEqual(at(60));
    expect(record()).toMatchObject({ requests: [aRequest()], launchHold: { lastLaunchAt: at(0) } });
  });

  it("because the whole cluster was paused holds nothing of a NodePool", async () => {
    const scope = "nodepool/default";
    const { world, context, launch } = aWorld([aHeldRecord({ scope })], { scope: "nodepool" });
    const { write } = world.holds;
    world.holds.write = async (wanted) => {
      world.holds.write = write;
      world.time = at(1);
      await pause(context(), { reason: "upgrade" });
      return world.holds.write(wanted);
    };
    const { until } = await reconcile(context(), scope, { launches: [launch()] });
    expect([until, world.nodes.marks()]).toEqual([undefined, {}]);
  });

  it("again and again makes the pass fail, so that it is retried", async () => {
    const { world, launch, pass } = aWorld();
    world.holds.write = async () => false;
    await expect(pass([launch()])).rejects.toThrow(TryAgainError);
    expect(world.nodes.marks()).toEqual({});
  });

  it("while a hold is closed leaves it to the next pass", async () => {
    const { world, pass, record } = aWorld([aHeldRecord({ hold: aHold({ ended }) })]);
    world.time = at(21);
    const write = world.holds.write.bind(world.holds);
    world.holds.write = async (wanted) => (wanted.hold ? write(wanted) : false);
    expect(await pass()).toMatchObject({ changed: { released: 2 } });
    expect(record()?.hold).toBeDefined();
  });

  it("and that cannot be read counts as none, and is written anew", async () => {
    const { world, pass, record } = aWorld([aHeldRecord()]);
    await world.holds.spoil("cluster");
    world.time = at(25);
    await pass();
    expect(record()).toEqual(aRecord({ version: 3, seen: {}, closedId: holdIdOf(at(35), "zzzzzz") }));
    expect(world.metrics.total("UnreadableRecords")).toBe(1);
    expect(world.log.lines.filter(({ level }) => level === "error")).toHaveLength(1);
  });

  it("and that cannot be read is followed by a younger hold, also by a clock that is behind", async () => {
    const { world, launch, pass, record } = aWorld([aHeldRecord()]);
    const before = record()?.hold?.id ?? "";
    await world.holds.spoil("cluster");
    world.time = at(-1);
    await pass([launch()]);
    expect(record()?.hold?.id.localeCompare(before)).toBe(1);
  });
});
