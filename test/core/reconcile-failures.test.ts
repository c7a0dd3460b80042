import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { BrokenSetupError, TryAgainError } from "../../lambda/core/errors.ts";
import { nothingChanged } from "../../lambda/core/plan-nodes.ts";
import type { CallContext, Nodes } from "../../lambda/core/ports.ts";
import { reconcile } from "../../lambda/core/reconcile.ts";
import type { Scope } from "../../lambda/core/scope.ts";
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

  it.each([
    ["ten seconds", {}, 10],
    ["as long as the pods in a look that reads them", { auto: true }, 60],
  ])("have %s; the nodes have all the time that there is", async (_, rules, time) => {
    const { context } = aWorld([], rules);
    const deadlines: Date[] = [];
    const { nodes, nodeClaims, deadline } = context();
    const others = {
      nodeClaims: {
        limits: (given: CallContext) => nodeClaims.limits(given),
        list: async (_scope: Scope, given: CallContext) => {
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
    };
    await reconcile({ ...context(), ...others }, "cluster", { isLook: true });
    expect(deadlines.toSorted()).toEqual([after(at(0), seconds(time)), deadline].toSorted());
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
    await reconcile(context(), "cluster", { isSweep: true });
    expect(looks()).toEqual([at(20)]);
  });
});
