import { describe, expect, it } from "vitest";
import { minutes } from "../../../lambda/core/duration.ts";
import { all, none } from "./engines.ts";
import type { Fault, PassingCall } from "./faulty-proxy.ts";
import { FaultsWorld } from "./world.ts";

const away: Fault = { kind: "away" };
const tooMuch: Fault = {
  kind: "answer",
  status: 400,
  headers: { "content-type": "application/x-amz-json-1.0" },
  body: '{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"slow down"}',
};
const isWrite = ({ target }: PassingCall) => target.endsWith(".PutItem");

/** What may become of the table, and of two who write to the same record. */
export function recordFaults(open: () => FaultsWorld): void {
  const marks = () => open().engines.marks();
  const table = () => open().engines.dynamodb;

  /** Lets the table go away at its first call, its second and so on, until the work needs no more calls than that. */
  async function atEveryCall(
    prepare: (world: FaultsWorld) => Promise<unknown>,
    work: (world: FaultsWorld) => Promise<unknown>,
    heal: (world: FaultsWorld) => Promise<unknown>,
  ): Promise<number> {
    for (let n = 1; ; n++) {
      const world = await FaultsWorld.open(open().engines);
      try {
        await prepare(world);
        table().break((call) => (call.n >= n ? away : undefined));
        await work(world);
        const wasReached = table().calls >= n;
        table().mend();
        await heal(world);
        open().told.push(...world.told);
        if (!wasReached) return n - 1;
      } finally {
        await world.close();
      }
    }
  }

  const launch = (world: FaultsWorld) => world.launch();
  const hold = async (world: FaultsWorld) => {
    await world.launch();
    expect(await world.deliver()).toBe("done");
    // Nobody waits for the newcomer, which would only take time here.
    world.queue.messages = [];
  };
  const expectHeldAndThenReleased = async (world: FaultsWorld) => {
    expect(await marks()).toEqual(all);
    await world.pass(minutes(21));
    await expectOver(world);
  };
  const expectOver = async (world: FaultsWorld) => {
    expect(await marks()).toEqual(none);
    expect(await world.hold()).toBeUndefined();
    expect(await world.history()).toHaveLength(1);
  };

  describe("a database", () => {
    it("that goes away at any call of a launch loses nothing: the message that comes again does the rest, without a sweep", async () => {
      const calls = await atEveryCall(
        launch,
        (world) => world.deliver(),
        async (world) => {
          await world.pass(minutes(13));
          await expectHeldAndThenReleased(world);
        },
      );
      expect(calls).toBeGreaterThan(5);
    });

    it("that goes away at any call of a launch loses nothing: one sweep does the rest, though the messages are lost", async () => {
      const calls = await atEveryCall(
        async (world) => {
          const leave = await world.engines.join(await world.launch());
          world.whenOver(leave);
        },
        (world) => world.deliver(),
        async (world) => {
          await world.loseEvents();
          expect(await world.sweep()).toBe("done");
          expect(await marks()).toEqual({ ...all, held: all.held + 1 });
        },
      );
      expect(calls).toBeGreaterThan(5);
    });

    it("that goes away at any call of a release holds nothing for ever: another try ends it, without a sweep", async () => {
      const calls = await atEveryCall(
        hold,
        (world) => world.pass(minutes(20.1)),
        async (world) => {
          await world.pass(minutes(3));
          await expectOver(world);
        },
      );
      expect(calls).toBeGreaterThan(3);
    });

    it("that goes away at any call of a release holds nothing for ever: one sweep ends it, though nobody tries again", async () => {
      const calls = await atEveryCall(
        hold,
        (world) => world.pass(minutes(20.1)),
        async (world) => {
          await world.loseEvents();
          expect(await world.sweep()).toBe("done");
          await expectOver(world);
        },
      );
      expect(calls).toBeGreaterThan(3);
    });

    it("that throttles loses no hold, and fails the launch that it throttles for too long", async () => {
      const world = open();
      await world.launch();
      table().break(({ n }) => (n > 2 ? tooMuch : undefined));
      expect(await world.deliver()).toBe("failed");
      table().break(({ n }) => (n % 2 === 0 ? tooMuch : undefined));
      await world.pass(minutes(13));
      await expectHeldAndThenReleased(world);
    });

    it("whose answers get lost receives nothing twice", async () => {
      const world = open();
      await world.launch();
      let lost = 0;
      const isFirstTry = new Map<number, boolean>();
      table().break((call) => {
        if (!isWrite(call)) return undefined;
        isFirstTry.set(call.n, !isFirstTry.get(call.n - 1));
        if (!isFirstTry.get(call.n)) return undefined;
        lost += 1;
        return { kind: "answer lost" };
      });
      expect(await world.deliver()).toBe("done");
      await world.pass(minutes(1));

      expect(lost).toBeGreaterThan(1);
      expect(await world.hold()).toMatchObject({ state: "held", launches: 1, nodes: all.held });
      await expectHeldAndThenReleased(world);
    });
  });

  describe("a record", () => {
    /** Whoever writes first waits until the other has written; returns when the first has been seen to wait. */
    function letOvertake(): Readonly<{ isWaiting: Promise<void>; goOn: () => void }> {
      const waiting = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      let isFirst = true;
      table().break(async (call) => {
        if (!isWrite(call) || !isFirst) return undefined;
        isFirst = false;
        waiting.resolve();
        await gate.promise;
        return undefined;
      });
      return { isWaiting: waiting.promise, goOn: gate.resolve };
    }

    it("that two launches write at once counts both: the second to come decides anew", async () => {
      const world = open();
      await world.launch();
      const [earlier] = world.queue.messages;
      await world.launch();
      const { isWaiting, goOn } = letOvertake();
      const second = world.deliver(world.queue.messages.filter((one) => one !== earlier));
      await isWaiting;
      expect(await world.deliver()).toBe("done");
      goOn();

      expect(await second).toBe("done");
      expect(table().refusals.join()).toMatch(/ConditionalCheckFailed/);
      expect(await world.hold()).toMatchObject({ launches: 2, extensions: 1 });
      await expectHeldAndThenReleased(world);
    });

    it("that a launch writes while its release is about to is released later, and not a moment without its marks", async () => {
      const world = open();
      await hold(world);
      await world.pass(minutes(19));
      const { isWaiting, goOn } = letOvertake();
      const release = world.pass(minutes(1.1));
      await isWaiting;
      await world.launch();
      expect(await world.deliver()).toBe("done");
      goOn();
      await release;

      expect(table().refusals.join()).toMatch(/ConditionalCheckFailed/);
      expect(await marks()).toEqual(all);
      expect(await world.hold()).toMatchObject({ state: "held", launches: 2, extensions: 1 });
      await expectHeldAndThenReleased(world);
    });
  });
}
