import { describe, expect, it } from "vitest";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { trialHoldId } from "../../lambda/core/marks/hold-id.ts";
import { holdLabel } from "../../lambda/core/marks/keys.ts";
import { reconcile } from "../../lambda/core/reconcile.ts";
import { reconcileAll, sweep } from "../../lambda/core/sweep.ts";
import { timedIds } from "../../simulator/hold-ids.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { aHeldRecord, aRecord } from "../support/builders.ts";
import { at } from "./plans.ts";
import { aWorld, byPool, dueAt, first, mark, second, third } from "./sweep-world.ts";

describe("orphaned marks", () => {
  it("are removed: of holds that no record names, and of records that cannot be read", async () => {
    const { world, context } = aWorld([aHeldRecord()], {}, ["a", "b", "c"]);
    mark(world, { a: first, b: second, c: third });
    world.time = at(5);
    await sweep(context());
    expect(world.nodes.marks()).toEqual({ a: first });
    expect(world.metrics.total("OrphansFound")).toBe(2);
    const removed = world.log.lines.find(({ sentence }) => sentence === "orphaned marks removed");
    expect(removed?.fields.holdIds).toEqual([second, third]);
  });

  it("are also those of nodes that the settings leave out, though their hold is on", async () => {
    const { world, context } = aWorld([aHeldRecord()], { nodePools: { only: [], except: ["batch"] } });
    mark(world, { web: first, batch: first });
    await sweep(context());
    expect(world.nodes.marks()).toEqual({ web: first });
  });

  it("are none that a hold leaves which is closed while the sweep reads", async () => {
    const { world, context } = aWorld([aHeldRecord()]);
    mark(world, { web: first });
    world.time = at(21);
    const { nodes } = context();
    const { listMarked } = nodes;
    nodes.listMarked = async (call) => {
      const marked = await listMarked.call(nodes, call);
      await reconcile(context(), "cluster");
      return marked;
    };
    await sweep({ ...context(), nodes });
    expect(world.nodes.marks()).toEqual({});
    expect([world.metrics.all("OrphansFound"), world.metrics.total("NodesReleased")]).toEqual([[], 1]);
  });

  it("are left where the time was over before they could be removed", async () => {
    const { world, context } = aWorld([]);
    mark(world, { web: first });
    const passed = context();
    const { listMarked } = passed.nodes;
    passed.nodes.listMarked = async (call) => {
      const marked = await listMarked.call(passed.nodes, call);
      world.time = passed.deadline;
      return marked;
    };
    expect(await reconcileAll(passed)).toMatchObject({ isLeft: true, orphaned: { released: 0, left: true } });
    expect(world.nodes.marks()).toEqual({ web: first });
  });

  it.each([
    ["those of a time to come", "29991231t235959-forged"],
    ["those with the id of a dry run", trialHoldId],
  ])("are %s: such a label keeps no node from its hold, nor held for ever", async (_, id) => {
    const { world, context } = aWorld([aHeldRecord()]);
    mark(world, { web: first, batch: id });
    world.time = at(5);
    await sweep(context());
    expect(world.nodes.marks()).toEqual({ web: first });
    await sweep(context());
    expect(world.nodes.marks()).toEqual({ web: first, batch: first });
  });

  it("of a younger hold, as after a record was restored, leave their nodes without a mark for seconds", async () => {
    const world = new Scenario({}, timedIds());
    for (const name of ["a", "b"]) world.addNode(name);
    await world.control({ do: "hold", for: "24h", reason: "freeze" });
    const [backup] = [...world.holds.records.values()];
    await world.pass(minutes(1));
    await world.control({ do: "release" });
    await world.pass(minutes(2));
    await world.control({ do: "hold", for: "1h", reason: "after it" });
    const { version = 0 } = world.holds.records.get("cluster") ?? {};
    await world.holds.write({ ...aRecord(backup), version });
    await world.pass(minutes(2) + seconds(15));
    expect(world.marks()).toEqual({ a: backup?.hold?.id, b: backup?.hold?.id });
  });

  it("are those of another NodePool's hold, which looks after its own nodes alone", async () => {
    const { world, context } = aWorld([dueAt(60, "web", second), dueAt(50, "batch", first)], byPool);
    mark(world, { web: second, batch: second });
    await sweep(context());
    expect(world.nodes.marks()).toEqual({ web: second });
    await sweep(context());
    expect(world.nodes.marks()).toEqual({ web: second, batch: first });
  });

  it("are never a user's value in the label, nor the user's annotation", async () => {
    const { world, context } = aWorld([]);
    world.nodes.edit("web", "labels", holdLabel, "never");
    world.nodes.edit("batch", "annotations", world.settings.holdAnnotation, "true");
    const before = world.nodes.all();
    await sweep(context());
    expect([world.nodes.all(), world.metrics.total("OrphansFound")]).toEqual([before, 0]);
  });
});
