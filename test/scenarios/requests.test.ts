import { describe, expect, it } from "vitest";
import { minutes, seconds } from "../../lambda/core/duration.ts";
import { Scenario } from "../../simulator/scenario.ts";

function twoNodes(rules: ConstructorParameters<typeof Scenario>[0] = {}): Scenario {
  const world = new Scenario(rules);
  for (const name of ["a", "b"]) world.addNode(name);
  return world;
}

describe("a person, an event and a window at once", () => {
  it("hold each until its own end, and the nodes until the last of them", async () => {
    const world = twoNodes();
    const names = () => world.holds.records.get("cluster")?.requests.map(({ name }) => name);

    world.sendHold({ cause: "window", name: "office hours", for: "2h" });
    await world.pass(minutes(5));
    world.sendHold({ cause: "event", name: "deployments", for: "30m" });
    const answer = await world.control({ do: "hold", name: "test", for: "20m", reason: "load test" });
    await world.pass(minutes(1));
    const all = names();
    world.launch({ joinsAfter: null });
    await world.pass(minutes(20));
    const withoutTest = names();
    await world.control({ do: "release", name: "deployments", reason: "rolled back" });
    const stillHeld = world.heldNodes();
    await world.pass(minutes(90));
    const inTheWindow = world.heldNodes();
    await world.pass(minutes(5));

    expect(answer).toMatchObject({ name: "test", marked: 0, because: "load test" });
    expect(all).toEqual(["office hours", "test", "deployments"]);
    expect(withoutTest).toEqual(["office hours", "deployments"]);
    expect(stillHeld).toEqual(["a", "b"]);
    expect(inTheWindow).toEqual(["a", "b"]);
    expect(world.marks()).toEqual({});
    expect(world.history()).toMatchObject([
      { requests: ["office hours", "load test", "deployments"], endedBecause: "the hold expired" },
    ]);
  });

  it("are all ended by a forced release, and their duplicates start nothing", async () => {
    const world = twoNodes();
    world.sendHold({ cause: "event", name: "deployments", for: "30m" });
    const [sent] = world.queue.messages;
    await world.pass(minutes(1));
    await world.control({ do: "hold", name: "test", for: "20m", reason: "load test" });
    world.launch();
    await world.pass(minutes(1));

    const answer = await world.control({ do: "release", reason: "maintenance" });
    world.queue.send(JSON.parse(sent?.body ?? "{}"));
    await world.pass(minutes(10));

    expect(answer).toMatchObject({ released: 3, because: "released by hand: maintenance" });
    expect([world.marks(), world.hold()]).toEqual([{}, undefined]);
    expect(world.history()).toMatchObject([{ endedBecause: "released by hand: maintenance" }]);
  });
});

describe("a pause", () => {
  it.each(["cluster", "nodepool"] as const)(
    "releases, nothing holds while it lasts, and a launch right after it holds: scope=%s",
    async (scope) => {
      const world = twoNodes({ scope });
      world.launch();
      await world.pass(minutes(2));
      const held = world.heldNodes();

      await world.control({ do: "pause", for: "1h", reason: "upgrade" });
      const atOnce = world.marks();
      for (let n = 0; n < 5; n++) {
        world.launch({ joinsAfter: null });
        await world.pass(minutes(5));
        expect(world.marks()).toEqual({});
      }
      await expect(
        world.control({ do: "hold", for: "5m", scope: scope === "cluster" ? scope : "nodepool/default" }),
      ).rejects.toThrow(/resume first/);
      await world.pass(700);
      await world.control({ do: "resume" });
      world.launch({ joinsAfter: null });
      await world.pass(seconds(1));

      expect(held).toEqual(["a", "b", "node-1"]);
      expect(atOnce).toEqual({});
      expect(world.heldNodes()).toEqual(["a", "b", "node-1"]);
      expect(world.history()).toMatchObject([{ endedBecause: "paused by hand: upgrade" }]);
    },
  );
});

describe("observe", () => {
  it("records what would be held and what went meanwhile, and marks nothing", async () => {
    const world = twoNodes({ mode: "observe" });

    world.launch();
    await world.pass(minutes(2));
    world.nodes.remove("a");
    await world.pass(minutes(20));

    expect(world.calls.filter((call) => call.startsWith("patch "))).toEqual([]);
    expect(world.history()).toMatchObject([
      { nodes: 3, removed: 1, observed: true, launches: { default: 1 } },
    ]);
  });

  it("releases what was marked before", async () => {
    const world = twoNodes();
    world.launch();
    await world.pass(minutes(2));
    const before = world.heldNodes();

    world.deploy({ mode: "observe" });
    await world.pass(minutes(5));

    expect(before).toEqual(["a", "b", "node-1"]);
    expect(world.marks()).toEqual({});
    expect(world.hold()?.ended).toBeUndefined();
  });
});
