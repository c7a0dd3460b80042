import { describe, expect, it } from "vitest";
import { after, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { noPauses } from "../../lambda/core/pauses.ts";
import { reconcileAll, sweep } from "../../lambda/core/sweep.ts";
import { Kind } from "../../lambda/record/item-table.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { aHeldRecord, aHold, aRecord } from "../support/builders.ts";
import { at } from "./plans.ts";
import { aWorld, byPool, dueAt, first, mark, second, third } from "./sweep-world.ts";

describe("a sweep", () => {
  it("reads records, nodes, marks and NodeClaims once for all scopes", async () => {
    const { world, context } = aWorld([dueAt(20, "web", first), dueAt(20, "batch", second)], byPool);
    await sweep(context());
    const reads = world.calls.filter((call) => ["all", "claims", "find", "list"].includes(call));
    expect(reads.toSorted()).toEqual(["all", "claims", "list", "list"]);
  });

  it.each(["cluster", "nodepool"] as const)("ignores a NodePool that cannot be: scope=%s", async (scope) => {
    const { world, context } = aWorld([], { scope });
    world.nodes.edit("batch", "labels", "karpenter.sh/nodepool", "Batch");
    world.ec2.launch({ pool: "web", joinsAfter: null });
    world.ec2.launch({ pool: "Batch", eventAfter: null });
    for (const minute of [1, 6]) {
      world.time = at(minute);
      await sweep(context());
      expect(world.nodes.held()).toEqual(["web"]);
    }
    expect([...world.holds.records.keys()]).toEqual([scope === "cluster" ? scope : "nodepool/web"]);
  });

  it("ends every hold that is due, whose one-shot did not come", async () => {
    const { world, context, record } = aWorld([dueAt(20, "web", first), dueAt(40, "batch", second)], byPool);
    mark(world, { web: first, batch: second });
    world.time = at(25);
    await sweep(context());
    expect(world.nodes.marks()).toEqual({ batch: second });
    expect([record("nodepool/web")?.hold, record("nodepool/batch")?.hold?.id]).toEqual([undefined, second]);
    expect(world.metrics.all("ReleaseLagMs")).toEqual([minutes(5)]);
  });

  it("holds for launches that no event reported, each in its scope and in no other", async () => {
    const { world, context, record } = aWorld([aRecord()], byPool);
    for (const pool of ["web", "batch"]) world.ec2.launch({ pool, eventAfter: null });
    world.time = at(4);
    await sweep(context());
    expect(new Set(Object.values(world.nodes.marks())).size).toBe(2);
    expect(world.nodes.held()).toEqual(["batch", "web"]);
    expect(world.metrics.total("MissedLaunches")).toBe(2);
    expect(record("cluster")?.seen).toEqual({});
  });

  it.each(["launch", "node"])("holds a NodePool of which nothing is known but a %s", async (known) => {
    const { world, context, record } = aWorld([], byPool, []);
    if (known === "launch") world.ec2.launch({ pool: "new", joinsAfter: null, eventAfter: null });
    else world.nodes.add("new", { pool: "new", age: minutes(1) });
    if (known === "node") world.nodeClaims.refusedWith = 404;
    await sweep(context());
    expect(record("nodepool/new")?.hold).toBeDefined();
  });

  it("finds a launch whose event was lost for as long as it holds, however seldom sweeps come", async () => {
    for (const minute of [15, 19.9, 20.1]) {
      const { world, context } = aWorld([]);
      world.nodeClaims.add({ name: "claim", instance: "i-1", createdAt: at(0) });
      world.time = at(minute);
      const { outcomes } = await reconcileAll(context());
      expect(outcomes.map(({ until }) => until)).toEqual([minute < 20 ? at(20) : undefined]);
    }
  });

  it("marks nodes that joined since the last look, and sets a one-shot that was lost", async () => {
    const { world, context, record } = aWorld([aHeldRecord({ looks: { oneShot: at(20) } })]);
    await sweep(context());
    expect(world.nodes.held()).toEqual(["batch", "web"]);
    expect([...world.oneShots.armed.values()].map((one) => one.at)).toEqual([record()?.looks.oneShot]);
  });

  it("is noted when it has ended, with how much is held and for how long", async () => {
    const none = aRecord({ scope: "nodepool/none" });
    const { world, context } = aWorld([dueAt(40, "web", first), dueAt(50, "batch", second), none], byPool);
    world.time = at(30);
    await sweep(context());
    const { metrics, journal } = world;
    expect([metrics.all("HoldActive"), metrics.all("OldestHoldMs")]).toEqual([[2], [minutes(30)]]);
    expect(await journal.lastSweep()).toEqual(at(30));
    metrics.values.length = 0;
    await sweep(context());
    expect(metrics.all("NodesHeldNow")).toEqual([2]);
  });

  it("counts the age of a hold that pays from its last launch, as its limit does", async () => {
    const { world, context } = aWorld([dueAt(70, "web", first)], { ...byPool, auto: true });
    world.time = at(60);
    await sweep(context());
    expect(world.metrics.all("OldestHoldMs")).toEqual([minutes(10)]);
  });

  it("counts the day that Jobs have at the end of such a hold", async () => {
    const record = dueAt(70, "web", first);
    const launchHold = { startedAt: at(0), lastLaunchAt: at(50), isEnding: true } as const;
    const { world, context } = aWorld([{ ...record, launchHold }], { ...byPool, auto: true });
    world.time = at(26 * 60 + 50);
    await sweep(context());
    expect(world.metrics.all("OldestHoldMs")).toEqual([hours(2)]);
  });

  it("counts it so, too, where the settings have just become those of a constant hold", async () => {
    const account = { ...{ at: at(299), nodes: 1, pauses: noPauses }, wasted: {}, letGo: {}, leftAlone: {} };
    const { world, context } = aWorld([{ ...dueAt(310, "web", first), account }], byPool);
    for (const minute of [300, 305]) {
      world.time = at(minute);
      await sweep(context());
    }
    expect(world.metrics.all("OldestHoldMs")).toEqual([minutes(10), minutes(5)]);
  });
});

describe("holds that are over", () => {
  const records = [
    aRecord({ scope: "nodepool/0" }),
    ...[dueAt(24, "a", first), dueAt(22, "b", second), dueAt(60, "c", third)],
  ];
  const ended = dueAt(20, "d", holdId(4));
  const done = {
    ...ended,
    hold: aHold({ id: holdId(4), ended: { at: at(20), because: "the hold expired" } }),
  };

  it("come first, the most overdue before the others", async () => {
    const { world, context } = aWorld([...records, done], byPool, ["a", "b", "c", "d", "e"]);
    world.time = at(25);
    const { outcomes } = await reconcileAll(context());
    const scopes = outcomes.map(({ record }) => record.scope);
    expect(scopes).toEqual(["d", "b", "a", "c", "0", "e"].map((pool) => `nodepool/${pool}`));
  });

  it("leave the rest to the next sweep where the time is over", async () => {
    const { world, context } = aWorld(records, byPool, ["a", "b", "c"]);
    world.time = at(25);
    const { deadline, ...rest } = context();
    const { write } = world.holds;
    world.holds.write = (record) => {
      world.time = deadline;
      return write.call(world.holds, record);
    };
    const { outcomes, isLeft } = await reconcileAll({ ...rest, deadline });
    expect([outcomes.map(({ record }) => record.scope), isLeft]).toEqual([["nodepool/b"], true]);
  });
});

describe("what fails", () => {
  it("in one scope stops no other one, and the sweep is not noted", async () => {
    const { world, context } = aWorld([dueAt(20, "web", first), dueAt(20, "batch", second)], byPool);
    mark(world, { web: first, batch: second });
    world.time = at(25);
    const { write } = world.holds;
    world.holds.write = async (record) => record.scope !== "nodepool/web" && write.call(world.holds, record);
    await expect(sweep(context())).rejects.toThrow(
      "the record of nodepool/web was changed by other functions",
    );
    expect(world.nodes.marks()).toEqual({ web: first });
    expect(await world.journal.lastSweep()).toBeUndefined();
    const { metrics } = world;
    // A scope that always fails must not hide from an alarm that another one is held for too long.
    expect([metrics.all("OldestHoldMs"), metrics.all("NodesHeldNow")]).toEqual([[minutes(25)], [2]]);
    expect(metrics.all("HoldActive")).toEqual([]);
  });

  it("to be read of NodeClaims is no reason to hold for longer", async () => {
    const { world, context, record } = aWorld([aHeldRecord()]);
    world.nodes.mark("web", first);
    world.time = at(25);
    world.refuses = (call) => call === "claims";
    await sweep(context());
    expect([record()?.hold, world.nodes.marks()]).toEqual([undefined, {}]);
  });

  it("to be read of the nodes ends a hold in its record all the same", async () => {
    const { world, context, record } = aWorld([dueAt(20, "web", first)], byPool);
    world.time = at(25);
    world.refuses = (call) => call === "list";
    await expect(sweep(context())).rejects.toThrow("list was refused");
    expect(record("nodepool/web")?.hold?.ended).toMatchObject({ because: "the hold expired" });
  });

  it("to be changed in one scope has half a minute, so that it does not stop the others", async () => {
    const { world, context } = aWorld([aHeldRecord()]);
    const { nodes } = context();
    const change = nodes.change.bind(nodes);
    nodes.change = (changes, call) => {
      expect(call.deadline).toEqual(after(at(0), seconds(30)));
      return change(changes, call);
    };
    await sweep({ ...context(), nodes });
    expect(world.nodes.held()).toEqual(["batch", "web"]);
  });

  it("to be read of the marks keeps no scope from being swept, and the sweep is not noted", async () => {
    const { world, context } = aWorld([aHeldRecord()]);
    world.nodes.mark("web", first);
    world.time = at(25);
    const { nodes } = context();
    nodes.listMarked = () => Promise.reject(new Error("the marks were not listed"));
    await expect(sweep({ ...context(), nodes })).rejects.toThrow("the marks were not listed");
    expect([world.nodes.marks(), await world.journal.lastSweep()]).toEqual([{}, undefined]);
    const { metrics } = world;
    expect([metrics.all("OldestHoldMs"), metrics.all("NodesHeldNow")]).toEqual([[minutes(25)], []]);
  });

  it("to be read of one item is reported after all others are done", async () => {
    const { world, context } = aWorld([aHeldRecord()]);
    world.nodes.mark("web", first);
    await world.table.put(Kind.record, "elsewhere", { version: 1 });
    world.time = at(25);
    await expect(sweep(context())).rejects.toThrow("Delete this item");
    expect(world.nodes.marks()).toEqual({});
  });
});

it("after the setting scope has changed the old hold ends, and each NodePool is held for its own launches", async () => {
  const { world, context, record } = aWorld([]);
  world.ec2.launch({ pool: "web", eventAfter: null, joinsAfter: null });
  await sweep(context());
  const before = record()?.hold?.id ?? "";
  expect(world.nodes.marks()).toEqual({ web: before, batch: before });
  world.deploy(byPool);
  world.time = at(5);
  await sweep(context());
  expect(record()?.hold).toBeUndefined();
  expect(world.nodes.marks()).toEqual({ web: record("nodepool/web")?.hold?.id });
  expect([...world.journal.past.values()].map(({ endedBecause }) => endedBecause)).toEqual([
    "the setting scope has changed",
  ]);
});
