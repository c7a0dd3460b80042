import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { holderName } from "../../../lambda/core/marks/keys.ts";
import type { Part } from "../../../lambda/names.ts";
import type { Emulator } from "../emulator/emulator.ts";
import { until } from "../engines/processes.ts";
import type { DeployedCluster } from "./cluster.ts";
import { forbid } from "./rights.ts";

/** What goes wrong is told, tried again, and keeps nothing else from its work. */
export function failureCases(open: () => Readonly<{ prod: DeployedCluster; emulator: Emulator }>): void {
  describe("failures", () => {
    beforeEach(() => open().prod.bringAgainAfter(2));
    afterEach(async () => {
      await open().prod.releaseAll();
      await open().prod.bringAgainAfter(720);
    });

    it("a poison message ends among the dead letters, and a launch beside it is held", async () => {
      const { prod } = open();

      await prod.send("poison");
      const node = await prod.join(await prod.launch());

      await prod.untilMarked([node]);
      const isDead = async () => (await prod.messagesIn("LaunchesDeadLetters")) === 1;
      await until("the poison to be a dead letter", isDead, 60_000, 500);
      await prod.untilLogged("hold", /message cannot be read/);
    });

    it("a role without leave to set schedules is named in the log with what it lacks; the hold is whole once it may", async () => {
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
      // A follow-up of an earlier launch may mark for the hold before its own launch comes again.
      const isArmed = async () => (await prod.schedules(holdId)).length === 1;
      await until("the hold's one-shot", isArmed, 30_000, 250);
    });

    it("a cluster that refuses the login has its launch tried again until it lets us in", async () => {
      const { prod } = open();
      const admit = await shutOut("hold");

      const node = await prod.join(await prod.launch());
      await prod.untilLogged("hold", /refused the login/);
      expect(await prod.marks()).not.toHaveProperty(node);
      await admit();

      await prod.untilMarked([node]);
    });

    it("an API server that is gone in the middle of a hold takes nothing from it, and a new node of that time is held once it is back", async () => {
      const { prod } = open();
      const node = await prod.join(await prod.launch());
      const hold = await prod.untilMarked([node]);
      const { plane } = prod;
      onTestFinished(() => plane.startApiServer());

      await plane.stopApiServer();
      const instance = await prod.launch();
      await prod.untilLogged("hold", /Karpenter's events could not be read|nodes failed 8 times/, 90_000);
      await plane.startApiServer();
      const newcomer = await prod.join(instance);
      expect(await prod.untilMarked([newcomer, node])).toBe(hold);
      expect((await prod.releaseAll()).said).toMatchObject({ failed: 0, left: false });
      expect(await prod.marks()).toEqual({});
    });

    it("a release that finds no API server is tried again, and ends the hold once it is back, without a sweep", async () => {
      const { prod } = open();
      const node = await prod.join(await prod.launch());
      await prod.untilMarked([node]);
      const { plane } = prod;
      onTestFinished(() => plane.startApiServer());

      await plane.stopApiServer();
      await prod.invokeLater("release", { force: true, reason: "nobody is there" });
      await prod.untilLogged("release", /nodes failed \d+ times/, 120_000);
      await plane.startApiServer();

      const areOff = async () => Object.keys(await prod.marks()).length === 0;
      await until("the marks to be off", areOff, 120_000, 500);
      // The record is closed a moment after the last mark.
      const isOver = async () =>
        JSON.stringify((await prod.control({ do: "status" })).scopes).includes('"none"');
      await until("the hold to be over", isOver, 30_000, 250);
      expect(await prod.messagesIn("FunctionsFailures")).toBe(0);
    });

    it("a release that fails for good ends among the failed invocations, and the sweep finishes it", async () => {
      const { prod } = open();
      const node = await prod.join(await prod.launch());
      await prod.untilMarked([node]);
      const admit = await shutOut("release");

      await prod.invokeLater("release", { force: true, reason: "shut out" });
      const isReported = async () => (await prod.messagesIn("FunctionsFailures")) === 1;
      await until("the failed invocation to be kept", isReported, 60_000, 500);
      expect(await prod.marks()).toHaveProperty(node);
      await admit();
      await prod.invoke("sweep", {});

      expect(await prod.marks()).toEqual({});
    });
  });

  /** The cluster no longer lets a function in; returns how it is let in again, which happens in any case. */
  async function shutOut(part: Part): Promise<() => Promise<void>> {
    const { prod, emulator } = open();
    const role = await prod.role(part);
    let isOut = true;
    const admit = async () => {
      if (isOut) await emulator.admit(prod.name, role, holderName);
      isOut = false;
    };
    onTestFinished(admit);
    await emulator.shut(prod.name, role);
    return admit;
  }
}
