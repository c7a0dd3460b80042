import { expect, it } from "vitest";
import type { Emulator } from "../emulator/emulator.ts";
import { patience, until } from "../engines/processes.ts";
import type { DeployedCluster } from "./cluster.ts";
import { forbid } from "./damage.ts";

/** What an operator does about launches that have failed five times. */
export function failureCases(open: () => Readonly<{ prod: DeployedCluster; emulator: Emulator }>): void {
  it("dead letters are redriven by one command, and every launch among them is held, without a sweep", async () => {
    const { prod, emulator } = open();
    await prod.setRetryDelay(1);
    const restore = await forbid(emulator, prod, "hold", "dynamodb:GetItem");
    const instances: string[] = [];
    for (let i = 0; i < 6; i++) instances.push(await prod.launch());
    // A message may contain several launches, and a launch may be in several messages.
    const areDead = async () =>
      (await prod.messagesIn("LaunchesQueue")) === 0 && (await prod.messagesIn("LaunchesDeadLetters")) > 0;
    await until("all launches to be dead letters", areDead, patience, 500);
    expect(await prod.marks()).toEqual({});
    await restore();

    await prod.redrive();
    const nodes = await Promise.all(instances.map((instance) => prod.join(instance)));

    await prod.untilMarked(nodes);
    expect(await prod.messagesIn("LaunchesDeadLetters")).toBe(0);
    await prod.releaseAll();
    await prod.setRetryDelay(720);
  });
}
