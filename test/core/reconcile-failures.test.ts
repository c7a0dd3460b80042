import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { BrokenSetupError, messageOf } from "../../lambda/core/errors.ts";
import { nothingChanged } from "../../lambda/core/plan-nodes.ts";
import type { Launch, Nodes } from "../../lambda/core/ports.ts";
import { reconcile, type Trigger } from "../../lambda/core/reconcile.ts";
import type { ScopeRecord } from "../../lambda/core/record.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { aHeldRecord } from "../support/builders.ts";
import { aWorld, heldByOne } from "./pass-world.ts";
import { at } from "./plans.ts";

/** The nodes of a world, of which one call does something else. */
const nodesOf = (real: Nodes, about: Partial<Nodes>): Nodes => ({
  list: (scope, context) => real.list(scope, context),
  listMarked: (context) => real.listMarked(context),
  nodePools: (context) => real.nodePools(context),
  change: (changes, context) => real.change(changes, context),
  ...about,
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
    world.time = at(5);
    await pass();
    expect(world.queue.messages).toHaveLength(2);
    expect(world.metrics.total("RightsMissing")).toBe(0);
  });

  it("because a right is missing are reported as that", async () => {
    const { world, pass } = aWorld();
    world.nodeClaims.refusedWith = 403;
    await pass();
    expect(world.metrics.total("RightsMissing")).toBe(1);
  });

  it.each([
    ["ten seconds", {}, 10],
    ["as long as the pods in a look that reads them", { auto: true }, 60],
  ])("have %s; the nodes have all the time that there is", async (_, rules, time) => {
    const { world, context } = aWorld([], rules);
    world.hangs = (call) => call === "claims";
    await reconcile(context(), "cluster", { isLook: true });
    expect(world.time).toEqual(after(at(0), seconds(time)));
    world.hangs = (call) => call === "list";
    const all = context();
    await expect(reconcile(all, "cluster", { isLook: true })).rejects.toThrow();
    expect(world.time).toEqual(all.deadline);
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
    expect(await pass()).toMatchObject({ changed: { released: 1, failed: 1 } });
    expect([record()?.hold?.ended?.at, looks()]).toEqual([at(20), [at(21)]]);
    world.refuses = () => false;
    world.time = at(21);
    expect(await pass()).toMatchObject({ changed: { released: 1 } });
    expect([record()?.hold, world.metrics.all("ReleaseLagMs")]).toEqual([undefined, [0, minutes(1)]]);
  });

  const fails = () => Promise.reject(new BrokenSetupError("no access entry"));
  it.each<[string, Partial<Nodes>, error?: string]>([
    ["the cluster cannot be reached", { list: fails }, "no access entry"],
    ["the time is over", { change: async () => ({ ...nothingChanged, left: true }) }],
    ["the cluster refuses the login", { change: fails }, "no access entry"],
  ])("because %s keep it open, too", async (_, about, error) => {
    const { world, pass, record, looks, context } = aWorld([aHeldRecord()]);
    world.time = at(20);
    const passed = pass([], { nodes: nodesOf(context().nodes, about) });
    expect(await passed.then(() => undefined, messageOf)).toBe(error);
    expect([record()?.hold?.ended?.at, looks()]).toEqual([at(20), [at(21)]]);
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

  const same = (record: ScopeRecord) => record;
  it.each<[string, (launch: Launch) => Trigger]>([
    ["a sweep", () => ({ isSweep: true })],
    ["a look", () => ({ isLook: true })],
    ["somebody who asks for what is recorded", () => ({ change: same })],
    ["the same event", (launch) => ({ launches: [launch] })],
    ["no other pass", () => ({})],
  ])("is set again, where it is the one-shot, by %s", async (by, trigger) => {
    const { world, launch, pass, looks, context } = aWorld();
    world.refuses = (call) => call === "arm";
    const launched = launch();
    await pass([launched]).catch(() => {});
    world.refuses = () => false;
    await reconcile(context(), "cluster", trigger(launched));
    expect(looks()).toEqual(by === "no other pass" ? [] : [at(20)]);
  });
});
