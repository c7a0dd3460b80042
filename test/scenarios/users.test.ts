import { describe, expect, it } from "vitest";
import { minutes } from "../../lambda/core/duration.ts";
import { holdLabel, Karpenter, neverHold } from "../../lambda/core/marks/keys.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { Scenario } from "../../simulator/scenario.ts";

const annotation = Karpenter.v1.annotation;
const stateOf = (world: Scenario, name: string) => {
  const node = world.nodes.get(name);
  return [node?.labels, node?.annotations];
};

describe("a user's own annotation", () => {
  it.each(["true", "false", "4h", ""])(
    "is never changed before, during and after a hold: %j",
    async (value) => {
      const world = new Scenario();
      world.addNode("mine", { annotations: { [annotation]: value } });
      world.addNode("old");
      world.launch({ node: { annotations: { [annotation]: value } } });

      await world.pass(minutes(5));
      const held = world.heldNodes();
      await world.pass(minutes(20));

      expect(held).toEqual(["old"]);
      for (const name of ["mine", "node-1"]) {
        expect(world.nodes.get(name)?.labels).toEqual({});
        expect(world.nodes.history(name)).toEqual([value]);
      }
    },
  );

  it("that replaces ours during a hold stays after it", async () => {
    const world = new Scenario();
    world.addNode("old");
    world.launch();
    await world.pass(minutes(5));

    world.nodes.edit("old", "annotations", annotation, "false");
    await world.pass(minutes(20));

    expect(stateOf(world, "old")).toEqual([{}, { [annotation]: "false" }]);
  });

  it("is what our annotation becomes when the user removes the label", async () => {
    const world = new Scenario();
    world.addNode("old");
    world.launch();
    await world.pass(minutes(3));

    world.nodes.edit("old", "labels", holdLabel, undefined);
    await world.pass(minutes(40));

    expect(stateOf(world, "old")).toEqual([{}, { [annotation]: "true" }]);
  });
});

describe("the label never", () => {
  it("in place of a mark makes the annotation the user's", async () => {
    const world = new Scenario();
    world.addNode("old");
    world.launch();
    await world.pass(minutes(5));
    world.nodes.edit("old", "labels", holdLabel, neverHold);

    await world.pass(minutes(40));

    expect(world.nodes.get("old")).toMatchObject({
      labels: { [holdLabel]: neverHold },
      annotations: { [annotation]: "true" },
    });
  });
});

describe("a half mark, whose annotation the user removed", () => {
  it("does not fail the release, and this hold does not complete it", async () => {
    const world = new Scenario();
    world.addNode("old");
    world.launch();
    await world.pass(minutes(2));

    world.nodes.edit("old", "annotations", annotation, undefined);
    await world.pass(minutes(10));
    const during = { ...world.nodes.get("old")?.annotations };
    await world.pass(minutes(9));

    expect(during).toEqual({});
    expect([world.marks(), world.hold(), world.history().length]).toEqual([{}, undefined, 1]);
  });

  it("is completed by the next hold", async () => {
    const world = new Scenario();
    world.addNode("old");
    world.nodes.edit("old", "labels", holdLabel, holdId(0));
    world.launch();

    await world.pass(minutes(2));

    expect(world.nodes.get("old")).toMatchObject({
      labels: { [holdLabel]: holdId(1) },
      annotations: { [annotation]: "true" },
    });
  });
});

describe("another generation or annotation", () => {
  it.each([Karpenter["v0.31"].annotation, "example.com/stay"])(
    "works from launch to release: %s",
    async (key) => {
      const world = new Scenario({ holdAnnotation: key });
      world.addNode("old");
      world.addNode("mine", { annotations: { [key]: "true" } });
      world.launch();

      await world.pass(minutes(5));
      const held = { ...world.nodes.get("old")?.annotations };
      await world.pass(minutes(20));

      expect(held).toEqual({ [key]: "true" });
      expect(stateOf(world, "old")).toEqual([{}, {}]);
      expect(world.nodes.get("mine")?.annotations).toEqual({ [key]: "true" });
    },
  );
});
