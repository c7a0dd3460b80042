import { describe, expect, it } from "vitest";
import { forceRelease, releaseDue } from "../../../lambda/core/operate/release.ts";
import { nothingChanged } from "../../../lambda/core/plan-nodes.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { aHeldRecord, aHold, aRecord, aRequest } from "../../support/builders.ts";
import { at } from "../plans.ts";
import { aWorld, batch, because, bothMarks, byPool, nothing, ofBatch, ofWeb } from "./marked-world.ts";

describe("a forced release", () => {
  it("of everything ends all holds and requests, of every scope", async () => {
    const { world, force, record } = aWorld(
      [ofWeb, { ...ofBatch, requests: [aRequest()] }],
      bothMarks,
      byPool,
    );
    expect(await force()).toEqual({ ...nothing, released: 2, because });
    expect([world.nodes.marks(), record(batch)?.hold]).toEqual([{}, undefined]);
    expect(record(batch)?.requests).toMatchObject([{ releasedAt: at(5) }]);
    expect([...world.journal.past.values()].map((past) => past.endedBecause)).toEqual([because, because]);
  });

  it("of one NodePool touches no other one", async () => {
    const { world, force } = aWorld([ofWeb, ofBatch], { ...bothMarks, "c-web": holdId(7) }, byPool);
    expect(await force({ scope: batch })).toEqual({ ...nothing, released: 1, because });
    expect(world.nodes.marks()).toEqual({ "a-web": holdId(1), "c-web": holdId(7) });
  });

  it("of everything removes orphaned marks, too, and counts those that were handed over to their users", async () => {
    const { world, force } = aWorld([], { a: holdId(7), b: holdId(7) });
    world.nodes.edit("b", "annotations", world.settings.holdAnnotation, "8h");
    expect(await force()).toEqual({ ...nothing, released: 1, kept: 1, because });
    expect(world.nodes.marks()).toEqual({});
  });

  it.each([
    ["a hold that marked no node", aHeldRecord(), because],
    [
      "a hold that is over",
      aRecord({ hold: aHold({ ended: { at: at(4), because: "it was over" } }) }),
      "it was over",
    ],
    ["nothing", aRecord(), "nothing is held"],
  ])("where there is %s says so", async (_, record, expected) => {
    expect(await aWorld([record], {}).force()).toEqual({ ...nothing, because: expected });
  });

  it("releases all of 200 nodes but those that refuse every change, and counts those once", async () => {
    const marks = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`n${n + 100}`, holdId(1)]));
    const { world, force, record } = aWorld([aHeldRecord()], marks);
    world.refuses = (call) => call.startsWith("patch n") && Number(call.slice("patch n".length)) < 281;
    expect(await force()).toEqual({ ...nothing, released: 19, failed: 181, because });
    expect(Object.keys(world.nodes.marks())).toHaveLength(181);
    expect(record()?.hold?.ended).toMatchObject({ because });
    world.refuses = () => false;
    expect(await force()).toMatchObject({ released: 181, failed: 0 });
  });

  it("right after a launch closes the hold a minute later, because another function may still be marking", async () => {
    const { world, force, record, context } = aWorld([aHeldRecord()]);
    world.ec2.launch();
    await force();
    world.nodes.mark("a", holdId(1));
    // History has it at once, and not again with each pass of that minute.
    expect(world.journal.past.get(holdId(1))).toMatchObject({ endedBecause: because });
    world.calls.length = 0;
    await releaseDue(context(), "cluster");
    expect(world.calls).not.toContain("remember");
    expect([world.nodes.marks(), record()?.hold?.ended?.because]).toEqual([{}, because]);
    world.nodes.mark("a", holdId(1));
    expect([...world.oneShots.armed.values()].map((one) => one.at)).toEqual([at(6)]);
    world.time = at(6);
    await releaseDue(context(), "cluster");
    expect([world.nodes.marks(), record()?.hold]).toEqual([{}, undefined]);
  });

  it.each([
    ["right after a request began does so, too", { startedAt: at(4.5) }, {}, false],
    ["closes the hold at once, whatever launch a wrong clock dated", {}, { "i-1": at(600) }, true],
  ])("%s", async (_, about, seen, isClosed) => {
    const { force, record } = aWorld([aRecord({ hold: aHold(about), requests: [aRequest()], seen })]);
    await force();
    expect(record()?.hold === undefined).toBe(isClosed);
  });

  it("that is retried with the same id spares what began after its first try", async () => {
    const { world, force, record } = aWorld([aHeldRecord()]);
    await force({ id: "request-1" });
    world.time = at(6);
    await world.holds.put(
      aHeldRecord({ ...record(), launchHold: { startedAt: at(6), lastLaunchAt: at(6) } }),
    );
    world.nodes.mark("a", holdId(1));
    world.time = at(7);
    expect(await force({ id: "request-1" })).toMatchObject({ released: 0 });
    expect(world.nodes.marks()).toEqual({ a: holdId(1) });
    expect(await force({ id: "request-2" })).toMatchObject({ released: 1, because });
    expect(record()?.released).toEqual({ at: at(7), because: "upgrade", by: "request-2" });
  });

  it("that is retried spares it, too, where somebody else has released in between", async () => {
    const { world, force, record } = aWorld([aHeldRecord()]);
    await force({ id: "request-1" });
    world.time = at(6);
    await force();
    expect(record()?.released).toEqual({ at: at(6), because: "upgrade", by: "request-1" });
  });

  it("counts, whatever release a wrong clock dated", async () => {
    const { force, record } = aWorld([aHeldRecord({ released: { at: at(600), because: "too early" } })]);
    expect(await force()).toMatchObject({ released: 1 });
    expect(record()?.released).toEqual({ at: at(5), because: "upgrade" });
  });

  it("of everything says until when a NodePool is held for what began since, and whether nodes of it are left", async () => {
    const launchHold = { startedAt: at(4), lastLaunchAt: at(4) };
    const { force } = aWorld([{ ...ofBatch, launchHold }], { "b-batch": holdId(2) }, byPool);
    expect(await force({ askedAt: at(3) })).toMatchObject({ released: 0, heldUntil: at(24) });
    const { context } = aWorld([ofBatch], { "b-batch": holdId(2) }, byPool);
    const { nodes } = context();
    nodes.change = async () => ({ ...nothingChanged, left: true });
    expect(await forceRelease({ ...context(), nodes }, { reason: "upgrade" })).toMatchObject({ left: true });
  });

  it("with the time at which it was asked for spares what began since, and is never of the future", async () => {
    const younger = aHeldRecord({ launchHold: { startedAt: at(4), lastLaunchAt: at(4) } });
    const { force, record } = aWorld([younger]);
    expect(await force({ askedAt: at(3) })).toEqual({ ...nothing, because, heldUntil: at(24) });
    expect(await force({ askedAt: at(4.5) })).toMatchObject({ released: 1 });
    await force({ askedAt: at(99) });
    expect(record()?.released?.at).toEqual(at(5));
    await force({ askedAt: at(2) });
    expect(record()?.released?.at).toEqual(at(5));
  });

  it("goes on with the other scopes where the cluster's own nodes fail it, and fails then", async () => {
    const { world, force } = aWorld(
      [aHeldRecord({ hold: aHold({ id: holdId(3) }) }), ofWeb],
      bothMarks,
      byPool,
    );
    world.nodes.add("c");
    world.nodes.mark("c", holdId(3));
    let arms = 0;
    world.refuses = (call) => call === "patch c" || (call === "arm" && ++arms === 1);
    await expect(force()).rejects.toThrow("arm was refused");
    expect(world.nodes.marks()).toMatchObject({ c: holdId(3) });
    expect(world.nodes.marks()).not.toHaveProperty("a-web");
  });

  it("fails where another scope cannot be released, though its own nodes are", async () => {
    const { world, force } = aWorld([aHeldRecord(), ofBatch], { a: holdId(1) });
    const { write } = world.holds;
    world.holds.write = async (record) => record.scope !== batch && write.call(world.holds, record);
    await expect(force()).rejects.toThrow("the record of nodepool/batch was changed by other functions");
    expect(world.nodes.marks()).toEqual({});
  });

  it("says that nodes are left where there was no time for a scope", async () => {
    const { world, context, force } = aWorld([ofWeb, ofBatch], bothMarks, byPool);
    const { deadline } = context();
    world.refuses = (call) => {
      if (call.startsWith("patch")) world.time = deadline;
      return false;
    };
    expect(await force()).toMatchObject({ released: 1, failed: 0, left: true });
    expect(Object.keys(world.nodes.marks())).toHaveLength(1);
  });

  it.each([20, 30])("says so, too, where the time was over with node 20 of %i", async (all) => {
    const marks = Object.fromEntries(Array.from({ length: all }, (_, n) => [`n${n + 10}`, holdId(1)]));
    const { world, context, force } = aWorld([aHeldRecord()], marks);
    const { deadline } = context();
    world.refuses = (call) => {
      if (call === "patch n29") world.time = deadline;
      return false;
    };
    expect(await force()).toEqual({ ...nothing, released: 20, left: true, because });
    expect(Object.keys(world.nodes.marks())).toHaveLength(all - 20);
  });

  it("counts a node that cannot be changed once: also where there was no time to try it again", async () => {
    for (const isLate of [false, true]) {
      const { world, context, force } = aWorld([aHeldRecord()]);
      const { deadline } = context();
      world.refuses = (call) => {
        if (isLate && call === "patch a") world.time = deadline;
        return call === "patch a";
      };
      expect(await force()).toMatchObject({ released: 0, failed: 1, left: isLate, because });
    }
  });

  it("replaces a record that cannot be read, whose marks are orphaned", async () => {
    const { world, force, record } = aWorld([aHeldRecord()]);
    await world.holds.spoil("cluster");
    await force();
    expect(world.nodes.marks()).toEqual({});
    expect(record()).toMatchObject({ released: { at: at(5), because: "upgrade" }, requests: [] });
  });
});
