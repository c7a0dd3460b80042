import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { BadInputError } from "../../lambda/core/errors.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { aRecord } from "../support/builders.ts";

const at = (minute: number) => after(noon, minutes(minute));

function twoNodes(rules: ConstructorParameters<typeof Scenario>[0] = {}): Scenario {
  const world = new Scenario(rules);
  world.addNode("a");
  world.addNode("b", { pool: "batch" });
  return world;
}

describe("a release by force", () => {
  it("releases at once and returns the number of nodes; neither late events nor the sweep restart the hold", async () => {
    const world = twoNodes();
    const launch = world.launch({ joinsAfter: minutes(4) });
    world.launch({ joinsAfter: minutes(4), eventAfter: minutes(6) });
    await world.pass(minutes(3));

    const answer = await world.releaseByHand({ force: true, reason: "maintenance" });
    const atOnce = world.marks();
    world.sendEvent(launch);
    await world.pass(minutes(30));

    expect(answer).toMatchObject({
      released: 2,
      kept: 0,
      failed: 0,
      because: "released by hand: maintenance",
    });
    expect(atOnce).toEqual({});
    expect([world.marks(), world.hold(), world.history().length]).toEqual([{}, undefined, 1]);
  });

  it("reports that nothing is held", async () => {
    const answer = await twoNodes().releaseByHand({ force: true });

    expect(answer).toMatchObject({ released: 0, because: "nothing is held" });
  });

  it("does not stop later launches from holding; a new request ends their hold too", async () => {
    const world = twoNodes();
    world.launch();
    await world.pass(minutes(3));
    await world.releaseByHand({ force: true });

    await world.pass(seconds(1));
    world.launch();
    await world.pass(minutes(2));

    expect(world.history()).toHaveLength(1);
    expect(world.heldNodes()).toEqual(["a", "b", "node-1", "node-2"]);

    expect(await world.releaseByHand({ force: true })).toMatchObject({ released: 4 });
    expect(world.marks()).toEqual({});
  });

  const cases = [
    ...[0, 2, 4, 6].map((calls) => ["carries its request time", calls, true] as const),
    ...[3, 5, 7].map((calls) => ["was recorded", calls, false] as const),
  ];
  it.each(cases)(
    "that %s ends no hold that started before its retry: crash before call %i",
    async (_, calls, saysWhen) => {
      const world = twoNodes();
      world.sweepEvery = undefined;
      world.launch();
      await world.pass(minutes(19));
      world.crash = { name: "release", calls };

      const askedAt = world.time.toISOString();
      await world.run(world.release({ force: true, ...(saysWhen && { askedAt }) }));
      await world.pass(seconds(59));
      await world.control({ do: "release" });
      const startedAt = world.time;
      world.launch();
      await world.pass(minutes(5));

      expect(world.retries).toEqual([]);
      expect(world.hold()).toMatchObject({ startedAt });
      expect(world.heldNodes()).toEqual(["a", "b", "node-1", "node-2"]);
    },
  );

  it("that arrives after a newer hold started reports that", async () => {
    const world = twoNodes({ scope: "nodepool" });
    world.launch({ pool: "batch" });
    await world.pass(minutes(1));

    const answer = await world.releaseByHand({ force: true, askedAt: "2026-11-21T11:59:00Z" });

    expect(answer).toMatchObject({ released: 0, because: "the hold began after its release was asked for" });
    expect(world.heldNodes()).toEqual(["b", "node-1"]);
  });

  it("also removes orphaned marks", async () => {
    const world = twoNodes();
    for (const { name } of world.nodes.all()) world.nodes.mark(name, holdId(0));

    expect(await world.releaseByHand({ force: true })).toMatchObject({ released: 2 });
  });

  it.each([{}, { scope: "cluster" }])("ends every NodePool's hold: %j", async (scope) => {
    const world = twoNodes({ scope: "nodepool" });
    world.launch();
    world.launch({ pool: "batch" });
    await world.pass(minutes(2));

    await world.control({ do: "release", ...scope });
    await world.pass(minutes(30));

    expect(world.marks()).toEqual({});
    expect(world.history().map(({ endedAt }) => endedAt)).toEqual([at(2), at(2)]);
  });

  it("of one NodePool leaves the others held", async () => {
    const world = twoNodes({ scope: "nodepool" });
    world.launch();
    world.launch({ pool: "batch" });
    await world.pass(minutes(2));

    await world.control({ do: "release", scope: "nodepool/batch" });
    await world.pass(minutes(10));

    expect(world.heldNodes()).toEqual(["a", "node-1"]);
  });
});

describe("a pause", () => {
  it.each(["cluster", "nodepool"] as const)(
    "releases, and nothing holds until it ends: scope %s",
    async (scope) => {
      const world = twoNodes({ scope });
      world.launch();
      await world.pass(minutes(2));

      const answer = await world.control({ do: "pause", for: "1h", reason: "upgrade" });
      const atOnce = world.marks();
      for (let n = 0; n < 11; n++) {
        world.launch({ pool: n % 2 ? "batch" : "new" });
        await world.pass(minutes(5));
        expect(world.marks()).toEqual({});
      }
      await world.pass(minutes(5));
      world.launch();
      await world.pass(minutes(2));

      expect(answer).toMatchObject({ released: 2 + (scope === "cluster" ? 1 : 0), until: at(62) });
      expect(atOnce).toEqual({});
      expect(world.heldNodes()).toContain("a");
    },
  );

  it("without an end lasts until it is resumed; launches count from then on", async () => {
    const world = twoNodes();
    await world.control({ do: "pause" });
    world.launch();
    await world.pass(minutes(10));

    const answer = await world.control({ do: "resume" });
    await world.pass(minutes(6));
    const before = world.marks();
    world.launch();
    await world.pass(minutes(2));

    expect(answer).toMatchObject({ resumed: ["cluster"], because: "the pause is over" });
    expect(before).toEqual({});
    expect(world.heldNodes()).toHaveLength(4);
  });

  it.each(["cluster", "nodepool"] as const)("reports its reason until it ends: scope %s", async (scope) => {
    const world = twoNodes({ scope });
    world.launch();
    await world.pass(minutes(2));
    const status = () => world.control({ do: "status" });

    await world.control({ do: "pause", for: "1h", reason: "Ada replaces every node" });
    const during = JSON.stringify(await status());
    await world.pass(minutes(61));

    const reported = during.match(/"because":"[^"]*"/g);
    expect(new Set(reported)).toEqual(new Set(['"because":"paused by hand: Ada replaces every node"']));
    expect(JSON.stringify(await status())).not.toContain("Ada");
    expect(world.history()).toMatchObject([{ endedBecause: "paused by hand: Ada replaces every node" }]);
  });

  it.each(["cluster", "nodepool"] as const)("reports when it started: scope %s", async (scope) => {
    const world = twoNodes({ scope });
    world.launch();
    await world.pass(minutes(2));
    const { time } = world;

    await world.control({ do: "pause", for: "1h" });
    await world.pass(minutes(10));
    await world.control({ do: "pause" });

    const reported = JSON.stringify(await world.control({ do: "status" })).match(/"since":"[^"]*"/g);
    expect(new Set(reported)).toEqual(new Set([`"since":"${time.toISOString()}"`]));
  });

  it("recorded by an earlier version, without reason and start, is still a pause", async () => {
    const world = twoNodes();
    await world.control({ do: "pause" });
    const { quietBecause: _, quietSince: __, ...stored } = world.holds.records.get("cluster") ?? aRecord();
    world.holds.records.set("cluster", stored);

    const status = await world.control({ do: "status" });
    expect(status).toMatchObject({ scopes: [{ state: "paused", because: "paused by hand" }] });
    expect(JSON.stringify(status)).not.toContain('"since"');
  });

  it("refuses a hold by hand, with a remedy", async () => {
    const world = twoNodes();
    await world.control({ do: "pause", for: "1h" });

    await expect(world.control({ do: "hold" })).rejects.toThrow(BadInputError);
    await expect(world.control({ do: "hold" })).rejects.toThrow("resume first");
  });

  it("of the whole cluster also ends a hold that a launch in a new NodePool starts at the same time", async () => {
    const world = twoNodes({ scope: "nodepool" });
    world.launch({ pool: "batch" });
    const hold = await world.deliver();
    while (hold.waitsFor !== "write") await world.step(hold);
    world.time = after(world.time, 1);

    await world.control({ do: "pause" });
    await world.finish(hold);
    await world.pass(minutes(5));

    expect(world.marks()).toEqual({});
    expect(world.hold("nodepool/batch")).toBeUndefined();
  });

  it("resumed for one NodePool while the cluster is paused reports that", async () => {
    const world = twoNodes({ scope: "nodepool" });
    world.launch();
    await world.pass(minutes(1));
    await world.control({ do: "pause" });

    const answer = await world.control({ do: "resume", scope: "nodepool/default" });

    expect(answer.because).toBe("the whole cluster is still paused: resume it");
  });
});

describe("a hold by hand", () => {
  it("marks at once, lasts as long as asked and is released like any other", async () => {
    const world = twoNodes();

    const answer = await world.control({ do: "hold", for: "45m", reason: "load test" });
    await world.pass(minutes(44));
    const nearTheEnd = world.heldNodes();
    await world.pass(minutes(1));

    expect(answer).toMatchObject({ holdId: holdId(1), marked: 2, userHeld: 0, until: at(45) });
    expect(nearTheEnd).toEqual(["a", "b"]);
    expect(world.marks()).toEqual({});
    expect(world.history()).toMatchObject([{ startedBecause: "held by hand: load test" }]);
  });

  it("must name a NodePool with scope nodepool", async () => {
    const world = twoNodes({ scope: "nodepool" });

    await expect(world.control({ do: "hold" })).rejects.toThrow("scope is missing");
    await expect(world.control({ do: "hold", scope: "cluster" })).rejects.toThrow("scope must be");
    expect(await world.control({ do: "hold", scope: "nodepool/batch" })).toMatchObject({ marked: 1 });
  });
});

describe("in scope nodepool", () => {
  it("a launch in one NodePool does not hold the others", async () => {
    const world = twoNodes({ scope: "nodepool" });
    world.launch({ pool: "batch" });

    await world.pass(minutes(2));
    const held = world.heldNodes();
    await world.pass(minutes(18));

    expect(held).toEqual(["b", "node-1"]);
    expect(world.marks()).toEqual({});
    expect(world.history()).toMatchObject([{ scope: "nodepool/batch" }]);
  });

  it("every NodePool has its own hold and expiry", async () => {
    const world = twoNodes({ scope: "nodepool" });
    world.launch();
    await world.pass(minutes(10));
    world.launch({ pool: "batch" });
    await world.pass(minutes(15));

    expect(world.heldNodes()).toEqual(["b", "node-2"]);
  });
});

describe("the status", () => {
  it("reports which nodes are held, until when and why", async () => {
    const world = twoNodes();
    world.launch({ joinsAfter: minutes(3) });
    await world.pass(minutes(1));

    const status = await world.control({ do: "status" });

    expect(status).toMatchObject({
      cluster: "prod",
      scopes: [
        {
          scope: "cluster",
          state: "held",
          because: "1 launch in NodePool default",
          until: at(20),
          nodesHeld: 2,
          nodes: ["a", "b"],
          awaited: 1,
          nextSchedule: at(20),
        },
      ],
      nodesUserHeld: 0,
    });
  });

  it("changes nothing", async () => {
    const world = twoNodes();

    await world.control({ do: "status" });

    expect(world.holds.records.size).toBe(0);
  });
});

it("after a launch dated ahead of our clock and a release by hand, launches still count", async () => {
  const world = twoNodes();
  const ahead = world.launch({ eventAfter: null });
  world.sendEvent({ ...ahead, launchedAt: at(0.9) });
  await world.pass(seconds(1));
  await world.releaseByHand({ force: true });
  await world.pass(seconds(9));
  expect(world.hold()).toBeUndefined();

  world.launch();
  await world.pass(seconds(5));

  expect(world.hold()?.state).toBe("held");
});
