import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const at = (minute: number) => after(noon, minutes(minute));

/** A world with two old nodes, whose NodeClaims are a day old. */
function twoNodes(rules: ConstructorParameters<typeof Scenario>[0] = {}): Scenario {
  const world = new Scenario(rules);
  for (const name of ["a", "b"]) world.addNode(name);
  return world;
}

/** How many minutes in a row it was so. */
const stretches = (byMinute: readonly boolean[], wanted: boolean): readonly number[] =>
  byMinute
    .map((one) => (one === wanted ? "x" : " "))
    .join("")
    .trim()
    .split(/ +/)
    .map(({ length }) => length);

describe("a burst", () => {
  it("is held from its first launch until 20 minutes after its last, the nodes that join, too", async () => {
    const world = twoNodes();

    world.launch();
    await world.pass(seconds(1));
    const atOnce = world.heldNodes();
    await world.pass(minutes(10));
    for (let n = 0; n < 3; n++) world.launch();
    await world.pass(minutes(2));
    const allJoined = world.heldNodes();
    await world.pass(minutes(17));
    const nearTheEnd = world.heldNodes();
    await world.pass(minutes(2));

    expect(atOnce).toEqual(["a", "b"]);
    expect(allJoined).toEqual(["a", "b", "node-1", "node-2", "node-3", "node-4"]);
    expect(nearTheEnd).toEqual(allJoined);
    expect(world.marks()).toEqual({});
    expect(world.history()).toMatchObject([
      {
        ...{ startedAt: noon, startedBecause: "a node was launched in NodePool default" },
        ...{ launches: { default: 4 }, extensions: 1, nodes: 6, capped: false },
        endedBecause: "the hold expired",
      },
    ]);
    expect(world.queue.messages).toEqual([]);
  });

  it("whose events were lost is found by its NodeClaims at the next sweep", async () => {
    const world = twoNodes();
    for (let n = 0; n < 3; n++) world.launch({ eventAfter: null });

    await world.pass(minutes(5));

    expect(world.heldNodes()).toEqual(["a", "b", "node-1", "node-2", "node-3"]);
    expect(world.metrics.total("MissedLaunches")).toBe(3);
    await world.pass(minutes(15));
    expect([world.marks(), world.history().length]).toEqual([{}, 1]);
  });
});

describe("a steady stream of launches", () => {
  it.each([
    ["that join", { joinsAfter: seconds(20) }],
    ["of instances that never join, perhaps forged,", { joinsAfter: null }],
  ])(
    "%s reaches its cap after two hours, holds nothing in the breather, and then holds again",
    async (_, launch) => {
      const world = twoNodes();
      const held: number[] = [];
      for (let minute = 1; minute <= 150; minute++) {
        if (minute % 5 === 1) world.launch(launch);
        await world.pass(minutes(1));
        held.push(world.heldNodes().length);
      }

      const nothing = held.flatMap((count, minute) => (count === 0 ? [minute + 1] : []));
      expect(nothing).toEqual([120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130]);
      expect(world.history()).toMatchObject([
        { endedBecause: "launches have held for as long as maxHold allows", capped: true },
      ]);
      expect(world.metrics.total("HoldsCapped")).toBe(1);
      expect(world.hold()).toMatchObject({ startedAt: at(130) });
    },
  );

  it.each([2, 7, 19])(
    "every %i minutes holds for maxHold at most, and leaves the nodes alone for a breather at least, for hours",
    async (every) => {
      const world = twoNodes();
      const held: boolean[] = [];
      for (let minute = 0; minute < 4.5 * 60; minute++) {
        if (minute % every === 0) world.launch({ joinsAfter: null });
        await world.pass(minutes(1));
        held.push(world.heldNodes().length > 0);
      }
      const lengths = (wanted: boolean) => stretches(held.slice(0, held.lastIndexOf(true) + 1), wanted);
      expect(Math.max(...lengths(true))).toBeLessThanOrEqual(120);
      expect(lengths(false).length).toBeGreaterThanOrEqual(2);
      expect(Math.min(...lengths(false))).toBeGreaterThanOrEqual(10);
    },
  );

  it("never ends a hold without a cap", async () => {
    const world = twoNodes({ maxHold: 0 });
    for (let n = 0; n < 20; n++) {
      world.launch({ joinsAfter: null });
      await world.pass(minutes(19));
      expect(world.heldNodes()).toEqual(["a", "b"]);
    }
    expect(world.history()).toEqual([]);
  });

  it("does not end what a person asked for", async () => {
    const world = twoNodes();
    await world.control({ do: "hold", name: "test", for: "3h", reason: "load test" });
    for (let n = 0; n < 36; n++) {
      if (n < 25) world.launch({ joinsAfter: null });
      await world.pass(minutes(5));
      expect(world.heldNodes()).toEqual(n < 35 ? ["a", "b"] : []);
    }
    expect(world.history()).toMatchObject([{ requests: ["load test"], capped: true }]);
  });
});

describe("two NodePools with scope=nodepool", () => {
  it("are held and released apart from each other", async () => {
    const world = new Scenario({ scope: "nodepool" });
    world.addNode("a", { pool: "web" });
    world.addNode("b", { pool: "batch" });

    world.launch({ pool: "web" });
    await world.pass(minutes(10));
    const web = world.heldNodes();
    world.launch({ pool: "batch" });
    await world.pass(minutes(5));
    const both = world.heldNodes();
    await world.pass(minutes(6));
    const batch = world.heldNodes();
    await world.pass(minutes(10));

    expect(web).toEqual(["a", "node-1"]);
    expect(both).toEqual(["a", "b", "node-1", "node-2"]);
    expect(batch).toEqual(["b", "node-2"]);
    expect([world.marks(), world.history().length]).toEqual([{}, 2]);
  });
});

describe("drift in a burst", () => {
  it("goes on: launches mark no drifted node, a person's hold does", async () => {
    const world = twoNodes();
    world.nodeClaims.change("i-a", { driftedAt: noon });

    world.launch();
    await world.pass(minutes(2));
    const ofLaunches = world.heldNodes();
    await world.control({ do: "hold", name: "test", for: "5m", reason: "load test" });
    const ofPerson = world.heldNodes();
    await world.pass(minutes(6));
    const afterwards = world.heldNodes();

    expect(ofLaunches).toEqual(["b", "node-1"]);
    expect(ofPerson).toEqual(["a", "b", "node-1"]);
    expect(afterwards).toEqual(["b", "node-1"]);
    expect(world.nodes.history("a")).toEqual([undefined, "true", undefined]);
  });
});

describe("NodeClaims that may not be read", () => {
  it("keep no launch from being held, and a node whose event was lost is found by itself", async () => {
    const world = twoNodes();
    world.nodeClaims.refusedWith = 403;
    world.nodeClaims.change("i-a", { driftedAt: noon });

    world.launch({ eventAfter: null, joinsAfter: minutes(1) });
    await world.pass(minutes(5));

    expect(world.heldNodes()).toEqual(["a", "b", "node-1"]);
    expect(world.metrics.total("RightsMissing")).toBeGreaterThan(0);
    await world.pass(minutes(17));
    expect([world.marks(), world.history().length]).toEqual([{}, 1]);
  });
});
