import { describe, expect, it } from "vitest";
import { minutes, seconds } from "../../../lambda/core/duration.ts";
import { all } from "./cluster.ts";
import type { FaultsWorld } from "./world.ts";

/** Faults of the API server and of the login. */
export function clusterFaults(open: () => FaultsWorld): void {
  const marks = () => open().cluster.marks();
  const kill = () => open().cluster.kill();
  const start = () => open().cluster.start();

  async function expectSomeHeld(): Promise<void> {
    const { held } = await marks();
    expect(held).toBeGreaterThan(0);
    expect(held).toBeLessThan(all.held);
  }

  /** Holds all nodes until 20 minutes from now. */
  async function startHold(): Promise<void> {
    await open().launch();
    expect(await marks()).toEqual(all);
  }

  describe("an API server", () => {
    it.each<[what: string, lose: boolean, repair: (world: FaultsWorld) => Promise<unknown>]>([
      ["redelivered messages mark the rest, without a sweep", false, (world) => world.advance(minutes(12.5))],
      ["one sweep marks the rest, although every message is lost", true, (world) => world.sweep()],
    ])("killed in the middle of marking loses nothing: %s", async (_, lose, repair) => {
      const world = open();
      world.expectAlarms("patches-failing");
      world.beforePatch(20, kill);
      await world.launch();
      if (lose) world.loseEvents();
      else await world.advance(seconds(30));

      await start();
      await expectSomeHeld();
      await repair(world);
      expect(await marks()).toEqual(all);
      await world.advance(minutes(21));
      await world.expectOver();
    });

    it.each<[what: string, lose: boolean, repair: (world: FaultsWorld) => Promise<unknown>]>([
      ["the release is retried, without a sweep", false, (world) => world.advance(minutes(4))],
      ["one sweep ends the hold, although its one-shots are lost", true, (world) => world.sweep()],
    ])("killed in the middle of releasing holds no node for ever: %s", async (_, lose, repair) => {
      const world = open();
      world.expectAlarms("patches-failing");
      await startHold();
      world.beforePatch(20, kill);
      await world.advance(minutes(lose ? 20.1 : 23.5));
      if (lose) world.loseEvents();

      await start();
      await expectSomeHeld();
      await repair(world);
      await world.expectOver();
    });

    it("killed and restarted within seconds: the same invocation waits and marks all", async () => {
      const world = open();
      world.beforePatch(20, kill);
      let back: Promise<void> | undefined;
      world.whilePausing = () => {
        back ??= start();
        return back;
      };

      await startHold();
      expect(back).toBeDefined();
      expect(world.log.lines.filter(({ level }) => level === "error")).toEqual([]);
    });
  });

  describe("a login", () => {
    it("that expires in the middle of releasing is renewed, and the same invocation ends the hold", async () => {
      const world = open();
      await startHold();
      let back: Promise<void> | undefined;
      world.beforePatch(20, async () => {
        back = world.cluster.restart("second-login-of-holder");
        await back;
      });
      world.whilePausing = async () => back;

      await world.advance(minutes(20.1));
      await world.expectOver();
    });

    it("removed during a hold fails every invocation; once it is restored, one sweep ends the hold", async () => {
      const world = open();
      world.expectAlarms("function-errors", "dead-letters");
      await startHold();
      await world.cluster.restart();

      await world.advance(minutes(24));
      expect(String(world.log.reported("invocation failed").at(-1)?.error)).toMatch(/access entry/);
      expect(await marks()).toEqual(all);
      expect(await world.sweep()).toBe(false);

      await world.cluster.repair();
      expect(await world.sweep()).toBe(true);
      await world.expectOver();
    });
  });
}
