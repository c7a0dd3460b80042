import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";
import { nothingChanged } from "../../lambda/core/plan-nodes.ts";
import type { Context, Launch, Nodes } from "../../lambda/core/ports.ts";
import { reconcile } from "../../lambda/core/reconcile.ts";
import type { ScopeRecord } from "../../lambda/core/record.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { aHeldRecord, aHold, aRecord, aRequest } from "../support/builders.ts";
import { coreWorld } from "../support/core-world.ts";
import { at } from "./plans.ts";

const cluster = "cluster" as const;

/** A world at noon with the nodes a and b, marked where there is a hold. */
function aWorld(records: readonly ScopeRecord[] = [], rules: Partial<Rules> = {}) {
  const it = coreWorld({ records, rules });
  const { world, context } = it;
  for (const name of ["a", "b"]) world.nodes.add(name);
  for (const { hold } of records) if (hold) for (const name of ["a", "b"]) world.nodes.mark(name, hold.id);
  const launch = (): Launch => {
    const { instance, launchedAt } = world.ec2.launch({ joinsAfter: null, eventAfter: null });
    return { instance, launchedAt, nodePool: "default" };
  };
  const pass = (launches: readonly Launch[] = [], more: Partial<Context> = {}) =>
    reconcile({ ...context(), ...more }, cluster, { launches });
  const looks = () => [...world.oneShots.armed.values()].map((oneShot) => oneShot.at);
  return { ...it, launch, pass, looks };
}

/** The nodes of a world, of which one call does something else. */
const nodesOf = (real: Nodes, about: Partial<Nodes>): Nodes => ({
  list: (scope, context) => real.list(scope, context),
  listMarked: (context) => real.listMarked(context),
  nodePools: (context) => real.nodePools(context),
  change: (changes, context) => real.change(changes, context),
  ...about,
});

const heldByOne = { a: holdId(1), b: holdId(1) };
const ended = { at: at(20), because: "the hold expired" };

describe("a pass", () => {
  it("after a launch records it, marks the nodes, sets one one-shot and sends one message", async () => {
    const { world, launch, pass, record, looks } = aWorld();
    const { changed } = await pass([launch()]);
    expect(changed).toEqual({ ...nothingChanged, marked: 2 });
    expect(world.nodes.marks()).toEqual(heldByOne);
    expect(record()).toMatchObject({ hold: { id: holdId(1) }, looks: { oneShot: at(20) } });
    expect(looks()).toEqual([at(20)]);
    expect(world.queue.messages.map(({ body }) => JSON.parse(body))).toEqual([
      { followUp: { kind: "scope", scope: "cluster" } },
    ]);
  });

  it("reads the record once and each list once, and writes once", async () => {
    const { world, launch, pass } = aWorld();
    await pass([launch()]);
    expect(world.calls.toSorted()).toEqual(
      ["arm", "claims", "enqueue", "find", "list", "patch a", "patch b", "write"].toSorted(),
    );
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
    expect(await pass()).toMatchObject({ isChanged: false, isClosed: false });
    expect(world.calls.toSorted()).toEqual(["claims", "find", "list"]);
  });

  it("at the end of a hold removes the marks, then closes it and keeps it in history", async () => {
    const { world, pass, record } = aWorld([aHeldRecord()]);
    world.time = at(20.5);
    expect(await pass()).toMatchObject({ isClosed: true, changed: { released: 2 } });
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

  it("of a function that sends no messages counts on the next sweep for nodes that boot", async () => {
    const { launch, context, record, world } = aWorld();
    const { followUps: _, launches: _l, ...release } = context();
    await reconcile(release, cluster, { launches: [launch()] });
    expect([record()?.looks.message, world.queue.messages]).toEqual([undefined, []]);
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

describe("a pass that is cut short after any of its calls is completed by the next one", () => {
  /** Runs a pass of which only so many calls succeed, and then another one. */
  async function cutShort(it: ReturnType<typeof aWorld>, calls: number, launches: readonly Launch[] = []) {
    let left = calls;
    it.world.refuses = () => left-- <= 0;
    await it.pass(launches).catch(() => {});
    it.world.refuses = () => false;
    await reconcile(it.context(), cluster, { isSweep: true });
  }

  it.each(Array.from({ length: 9 }, (_, calls) => calls))("at the start of a hold: %i", async (calls) => {
    const it = aWorld();
    const launched = it.launch();
    it.world.time = at(1);
    await cutShort(it, calls, [launched]);
    const [id] = Object.values(it.world.nodes.marks());
    expect(it.world.nodes.marks()).toEqual({ a: id, b: id });
    expect(it.record()).toMatchObject({ hold: { id }, figures: { launches: { default: 1 } } });
    expect(it.looks()).toEqual([it.record()?.looks.oneShot]);
  });

  it.each(Array.from({ length: 8 }, (_, calls) => calls))("at its end: %i", async (calls) => {
    const it = aWorld([aHeldRecord()]);
    it.world.time = at(20);
    await cutShort(it, calls);
    expect([it.world.nodes.marks(), it.record()?.hold]).toEqual([{}, undefined]);
    expect([...it.world.journal.past.keys()]).toEqual([holdId(1)]);
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
    expect(await pass()).toMatchObject({ isClosed: false, changed: { released: 2 } });
    expect(record()?.hold).toBeDefined();
  });

  it("and that cannot be read counts as none, and is written anew", async () => {
    const { world, pass, record } = aWorld([aHeldRecord()]);
    await world.holds.spoil(cluster);
    world.time = at(25);
    await pass();
    expect(record()).toEqual(aRecord({ version: 3, seen: {} }));
    expect(world.metrics.total("UnreadableRecords")).toBe(1);
    expect(world.log.lines.filter(({ level }) => level === "error")).toHaveLength(1);
  });
});

describe("a cluster that cannot be reached", () => {
  it("keeps no launch from being recorded: the pass fails, and another one comes within a minute or two", async () => {
    const { world, launch, pass, record, looks } = aWorld();
    world.refuses = (call) => call === "list";
    await expect(pass([launch()])).rejects.toThrow("list was refused");
    expect(record()).toMatchObject({ hold: { id: holdId(1) }, launchHold: { lastLaunchAt: at(0) } });
    expect(looks()).toEqual([at(20), at(1)]);
    world.refuses = () => false;
    await pass();
    expect(world.nodes.marks()).toEqual(heldByOne);
  });

  it("leaves an ended hold open until its marks are removed", async () => {
    const { world, pass, record } = aWorld([aHeldRecord()]);
    world.time = at(20);
    world.refuses = (call) => call === "list";
    await expect(pass()).rejects.toThrow("list was refused");
    expect(record()?.hold?.ended).toMatchObject({ because: "the hold expired" });
    world.refuses = () => false;
    expect(await pass()).toMatchObject({ isClosed: true, changed: { released: 2 } });
  });
});

describe("NodeClaims that cannot be read", () => {
  it("do not stop the pass: drifted nodes are held, too", async () => {
    const { world, launch, pass } = aWorld();
    world.nodeClaims.change("i-a", { driftedAt: at(-5) });
    world.refuses = (call) => call === "claims";
    await pass([launch()]);
    expect(world.nodes.marks()).toEqual(heldByOne);
    expect(world.log.reported("NodeClaims could not be read: drifted nodes are held, too")).toHaveLength(1);
  });

  it("may be none in the cluster: any launch of the last minutes waits for its node then", async () => {
    const { world, launch, pass } = aWorld();
    world.nodeClaims.refusedWith = 404;
    await pass([launch()]);
    expect(world.queue.messages).toHaveLength(1);
    expect(world.metrics.total("RightsMissing")).toBe(0);
  });

  it("because a right is missing are reported as that", async () => {
    const { world, pass } = aWorld();
    world.nodeClaims.refusedWith = 403;
    await pass();
    expect(world.metrics.total("RightsMissing")).toBe(1);
  });

  it("have ten seconds; the nodes have all the time that there is", async () => {
    const { pass, context } = aWorld();
    const deadlines: Date[] = [];
    const { nodes, nodeClaims, deadline } = context();
    await pass([], {
      nodeClaims: {
        limits: (given) => nodeClaims.limits(given),
        list: async (_, given) => {
          deadlines.push(given.deadline);
          throw new TryAgainError("no answer");
        },
      },
      nodes: nodesOf(nodes, {
        list: (scope, given) => {
          deadlines.push(given.deadline);
          return nodes.list(scope, given);
        },
      }),
    });
    expect(deadlines.toSorted()).toEqual([after(at(0), seconds(10)), deadline].toSorted());
  });

  it("show drifted nodes, which a launch leaves alone and a request holds", async () => {
    const { world, launch, pass, context } = aWorld();
    world.nodeClaims.change("i-a", { driftedAt: at(-5) });
    await pass([launch()]);
    expect(world.nodes.marks()).toEqual({ b: holdId(1) });
    const change = (record: ScopeRecord) => ({ ...record, requests: [aRequest()] });
    await reconcile(context(), cluster, { change });
    expect(world.nodes.marks()).toEqual(heldByOne);
  });
});

describe("nodes that cannot be changed", () => {
  it("do not stop the others, and another pass comes within a minute or two", async () => {
    const { world, launch, pass, looks } = aWorld();
    world.refuses = (call) => call === "patch a";
    expect(await pass([launch()])).toMatchObject({ changed: { marked: 1, failed: 1 } });
    expect(world.nodes.marks()).toEqual({ b: holdId(1) });
    expect(looks()).toEqual([at(20), at(1)]);
  });

  it("keep an ended hold open until they are released", async () => {
    const { world, pass, record, looks } = aWorld([aHeldRecord()]);
    world.time = at(20);
    world.refuses = (call) => call === "patch a";
    expect(await pass()).toMatchObject({ isClosed: false, changed: { released: 1, failed: 1 } });
    expect([record()?.hold?.ended?.at, looks()]).toEqual([at(20), [at(21)]]);
    world.refuses = () => false;
    world.time = at(21);
    expect(await pass()).toMatchObject({ isClosed: true, changed: { released: 1 } });
    expect(world.metrics.all("ReleaseLagMs")).toEqual([0, minutes(1)]);
  });

  it("because the time is over keep it open, too", async () => {
    const { world, pass, record, looks, context } = aWorld([aHeldRecord()]);
    world.time = at(20);
    const change = async () => ({ ...nothingChanged, left: true });
    expect(await pass([], { nodes: nodesOf(context().nodes, { change }) })).toMatchObject({
      isClosed: false,
    });
    expect([record()?.hold?.ended?.at, looks()]).toEqual([at(20), [at(21)]]);
  });

  it("because the cluster refuses the login keep it open, too", async () => {
    const { world, pass, record, context } = aWorld([aHeldRecord()]);
    world.time = at(20);
    const change = () => Promise.reject(new BrokenSetupError("no access entry"));
    await expect(pass([], { nodes: nodesOf(context().nodes, { change }) })).rejects.toThrow(
      "no access entry",
    );
    expect(record()?.hold?.ended?.at).toEqual(at(20));
    expect(world.journal.past.size).toBe(0);
  });
});

describe("a look that cannot be set", () => {
  it.each(["arm", "enqueue"])("keeps no node from being marked, nor the other look: %s", async (refused) => {
    const { world, launch, pass, looks } = aWorld();
    world.refuses = (call) => call === refused;
    await expect(pass([launch()])).rejects.toThrow(`${refused} was refused`);
    expect(world.nodes.marks()).toEqual(heldByOne);
    expect([looks().length, world.queue.messages.length]).toEqual(refused === "arm" ? [0, 1] : [1, 0]);
  });

  it("is set again by the sweep, where it is the one-shot", async () => {
    const { world, launch, pass, looks, context } = aWorld();
    world.refuses = (call) => call === "arm";
    await pass([launch()]).catch(() => {});
    world.refuses = () => false;
    await reconcile(context(), cluster, { isSweep: true });
    expect(looks()).toEqual([at(20)]);
  });
});
