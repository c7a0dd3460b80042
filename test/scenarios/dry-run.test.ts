import { describe, expect, it } from "vitest";
import { minutes } from "../../lambda/core/duration.ts";
import { Karpenter } from "../../lambda/core/marks/keys.ts";
import { Scenario } from "../../simulator/scenario.ts";

function threeNodes(): Scenario {
  const world = new Scenario();
  world.addNode("a");
  world.addNode("b");
  world.addNode("users", { annotations: { [Karpenter.v1.annotation]: "true" } });
  return world;
}
/** All that a request could change. */
const everything = (world: Scenario) =>
  structuredClone([
    world.marks(),
    [...world.holds.records],
    [...world.journal.past],
    [...world.oneShots.armed],
    world.queue.due(),
  ]);
const holding = async () => {
  const world = threeNodes();
  world.launch();
  await world.pass(minutes(3));
  return world;
};

describe("a dry run", () => {
  it.each([
    { do: "hold", for: "45m", reason: "test" },
    { do: "release", reason: "test" },
    { do: "pause", for: "2h", reason: "test" },
  ])("of %j answers as the request itself does, and changes nothing", async (request) => {
    const world = await holding();
    const before = everything(world);

    const tried = await world.control({ do: "dry run", request });

    expect(everything(world)).toEqual(before);
    const done = Object(await world.control(request));
    expect(tried).toEqual({ ...done, dryRun: true });
    expect(everything(world)).not.toEqual(before);
  });
});
