import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { Emulator } from "../emulator/emulator.ts";
import { until } from "../engines/processes.ts";
import type { DeployedCluster } from "./cluster.ts";
import { forbid, removeAccess } from "./damage.ts";

/** Every failure is logged and retried, and does not stop other work. */
export function failureCases(open: () => Readonly<{ prod: DeployedCluster; emulator: Emulator }>): void {
  describe("failures", () => {
    beforeEach(() => open().prod.setRetryDelay(1));
    afterEach(async () => {
      await open().prod.releaseAll();
      await open().prod.setRetryDelay(720);
    });

    it("a malformed message becomes a dead letter, and a launch in the same queue is held", async () => {
      const { prod } = open();

      await prod.send("poison");
      const node = await prod.join(await prod.launch());

      await prod.untilMarked([node]);
      const isDead = async () => (await prod.messagesIn("LaunchesDeadLetters")) === 1;
      await until("the message to be a dead letter", isDead, 60_000, 500);
      await prod.untilLogged("hold", /message cannot be read/);
    });

    it("a role without the permission to create schedules is logged with that permission; its hold is complete once it is restored", async () => {
      const { prod, emulator } = open();
      const before = await prod.schedules();
      const restore = await forbid(emulator, prod, "hold", "scheduler:CreateSchedule");

      const node = await prod.join(await prod.launch());
      await prod.untilLogged(
        "hold",
        /Cannot create a schedule.*not authorized to perform: scheduler:CreateSchedule/,
      );
      expect((await prod.schedules()).filter((name) => !before.includes(name))).toEqual([]);
      await restore();

      const holdId = await prod.untilMarked([node]);
      // A follow-up of an earlier launch may mark the node before this launch is delivered again.
      const isArmed = async () => (await prod.schedules(holdId)).length === 1;
      await until("the hold's one-shot", isArmed, 30_000, 250);
    });

    it("a launch is retried as long as its cluster refuses the login", async () => {
      const { prod, emulator } = open();
      const restore = await removeAccess(emulator, prod, "hold");

      const node = await prod.join(await prod.launch());
      await prod.untilLogged("hold", /refused the login/);
      expect(await prod.marks()).not.toHaveProperty(node);
      await restore();

      await prod.untilMarked([node]);
    });

    it("a release without an API server is retried, and ends the hold once the server is back, without a sweep", async () => {
      const { prod } = open();
      const node = await prod.join(await prod.launch());
      await prod.untilMarked([node]);
      const { plane } = prod;
      onTestFinished(() => plane.startApiServer());

      await plane.stopApiServer();
      await prod.invokeAsync("release", { force: true, reason: "the API server is down" });
      await prod.untilLogged("release", /nodes failed \d+ times/, 120_000);
      await plane.startApiServer();

      const areOff = async () => Object.keys(await prod.marks()).length === 0;
      await until("the marks to be removed", areOff, 120_000, 500);
      // The record is closed a moment after the last mark was removed.
      const isOver = async () =>
        JSON.stringify((await prod.control({ do: "status" })).scopes).includes('"none"');
      await until("the hold to be over", isOver, 30_000, 250);
      expect(await prod.messagesIn("FunctionsFailures")).toBe(0);
    });

    it("dead letters are redriven by one command, and every launch among them is held, without a sweep", async () => {
      const { prod, emulator } = open();
      await prod.empty();
      const restore = await forbid(emulator, prod, "hold", "dynamodb:GetItem");
      const instances: string[] = [];
      for (let i = 0; i < 6; i++) instances.push(await prod.launch());
      // A message may contain several launches, and a launch may be in several messages.
      const areDead = async () =>
        (await prod.messagesIn("LaunchesQueue")) === 0 && (await prod.messagesIn("LaunchesDeadLetters")) > 0;
      await until("all launches to be dead letters", areDead, 120_000, 500);
      expect(await prod.marks()).toEqual({});
      await restore();

      await prod.redrive();
      const nodes = await Promise.all(instances.map((instance) => prod.join(instance)));

      await prod.untilMarked(nodes);
      expect(await prod.messagesIn("LaunchesDeadLetters")).toBe(0);
    });
  });
}
