import { expect, it } from "vitest";
import { minutes } from "../../lambda/core/duration.ts";
import { BrokenSetupError } from "../../lambda/core/errors.ts";
import { Scenario } from "../../simulator/scenario.ts";

/** A launch whose one-shot cannot be set for this reason. */
async function launchFailingWith(error: Error): Promise<void> {
  const world = new Scenario();
  world.refuses = (call) => {
    if (call === "arm") throw error;
    return false;
  };
  world.launch();
  await world.pass(minutes(1));
}

it("an error that the product does not name is a bug, and fails the scenario", async () => {
  const bug = new TypeError("not a function");
  await expect(launchFailingWith(bug)).rejects.toBe(bug);
  const several = new AggregateError([new BrokenSetupError("the role is missing"), bug]);
  await expect(launchFailingWith(several)).rejects.toBe(several);
  await expect(launchFailingWith(new BrokenSetupError("the role is missing"))).resolves.toBeUndefined();
});
