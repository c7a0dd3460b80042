import { describe, expect, it } from "vitest";
import { minutes, seconds } from "../../../lambda/core/duration.ts";
import { all } from "./engines.ts";
import type { Fault } from "./faulty-proxy.ts";
import type { FaultsWorld } from "./world.ts";

const throttled: Fault = { kind: "answer", status: 429, headers: { "retry-after": "5" }, body: "{}" };
const broken: Fault = { kind: "answer", status: 500, body: "{}" };
const refused: Fault = { kind: "answer", status: 401, body: '{"message":"Unauthorized"}' };

/** Faults of the API server and of the login. */
export function clusterFaults(open: () => FaultsWorld): void {
  const marks = () => open().engines.marks();
  const kill = () => open().engines.plane.stopApiServer();
  const start = () => open().engines.startApiServer();

  async function expectSomeHeld(): Promise<void> {
    const { held } = await marks();
    expect(held).toBeGreaterThan(0);
    expect(held).toBeLessThan(all.held);
  }

  /** Holds all nodes until 20 minutes from now. */
  async function startHold(): Promise<void> {
    await open().launch();
    expect(await open().deliver()).toBe("done");
    expect(await marks()).toEqual(all);
  }

  describe("an API server", () => {
    it.each<[what: string, lose: boolean, repair: (world: FaultsWorld) => Promise<unknown>]>([
      ["redelivered messages mark the rest, without a sweep", false, (world) => world.advance(minutes(12.5))],
      ["one sweep marks the rest, although every message is lost", true, (world) => world.sweep()],
    ])("killed in the middle of marking loses nothing: %s", async (_, lose, repair) => {
      const world = open();
      world.expectAlarms("patches-failing");
      await world.launch();
      world.cluster.beforePatch(20, kill);
      await world.deliver();
      if (lose) await world.loseEvents();
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
      world.cluster.beforePatch(20, kill);
      await world.advance(minutes(lose ? 20.1 : 23.5));
      if (lose) await world.loseEvents();

      await start();
      await expectSomeHeld();
      await repair(world);
      await world.expectOver();
    });

    it("killed and restarted within seconds: the same invocation waits and marks all", async () => {
      const world = open();
      await world.launch();
      world.cluster.beforePatch(20, kill);
      let back: Promise<void> | undefined;
      world.whilePausing = () => {
        back ??= start();
        return back;
      };

      expect(await world.deliver()).toBe("done");
      expect(back).toBeDefined();
      expect(await marks()).toEqual(all);
      expect(world.log.lines.filter(({ level }) => level === "error")).toEqual([]);
    });

    it("that is slow, throttles and fails in turn only delays marks and releases", async () => {
      const world = open();
      world.expectAlarms("slow-protection");
      world.cluster.inject(({ n }) => {
        if (n === 1) return { ...throttled, headers: { "retry-after": "61" } };
        if (n % 4 === 0) return throttled;
        if (n % 4 === 1) return broken;
        return n % 4 === 2 ? { kind: "slow", ms: 20 } : undefined;
      });
      await world.launch();
      expect(await world.deliver()).toBe("done");
      await world.advance(minutes(1));
      expect(await marks()).toEqual(all);

      await world.advance(minutes(24));
      await world.expectOver();
      expect(world.datapoints.filter(({ name }) => name === "ApiThrottled").length).toBeGreaterThan(0);
    });
  });

  describe("a login", () => {
    it("that expires in the middle of releasing is renewed, and the same invocation ends the hold", async () => {
      const world = open();
      await startHold();
      let back: Promise<void> | undefined;
      world.cluster.beforePatch(20, async () => {
        back = world.engines.restartApiServer("second-login-of-holder");
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
      await world.engines.restartApiServer();

      await world.advance(minutes(24));
      expect(String(world.log.reported("invocation failed").at(-1)?.error)).toMatch(/access entry/);
      expect(await marks()).toEqual(all);
      expect(await world.sweep()).toBe("failed");

      await world.engines.restartApiServer(world.engines.token);
      expect(await world.sweep()).toBe("done");
      await world.expectOver();
    });

    it("refused in the middle of marking ends the batch at once; once it is restored, one sweep marks all", async () => {
      const world = open();
      world.expectAlarms("function-errors");
      await world.launch();
      world.cluster.inject(({ n }) => (n > 20 ? refused : undefined));
      expect(await world.deliver()).toBe("failed");
      expect(world.engines.kubernetes.calls).toBeLessThanOrEqual(20 + 2 * 16);
      await expectSomeHeld();
      await world.loseEvents();

      world.cluster.reset();
      expect(await world.sweep()).toBe("done");
      expect(await marks()).toEqual(all);
    });
  });
}
