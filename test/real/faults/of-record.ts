import { describe, expect, it } from "vitest";
import { minutes } from "../../../lambda/core/duration.ts";
import { all } from "./engines.ts";
import type { Fault, ProxiedCall } from "./faulty-proxy.ts";
import { FaultsWorld } from "./world.ts";

const unreachable: Fault = { kind: "unreachable" };
const throttledByDynamoDb: Fault = {
  kind: "answer",
  status: 400,
  headers: { "content-type": "application/x-amz-json-1.0" },
  body: '{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"slow down"}',
};
const isWrite = ({ target }: ProxiedCall) => target.endsWith(".PutItem");

/** Faults of the table, and two functions that write the same record. */
export function recordFaults(open: () => FaultsWorld): void {
  const marks = () => open().engines.marks();
  const table = () => open().engines.dynamodb;

  /** Makes the table unreachable from the first call on, then from the second, and so on, until the work needs no more calls. */
  async function atEveryCall(
    prepare: (world: FaultsWorld) => Promise<unknown>,
    work: (world: FaultsWorld) => Promise<unknown>,
    repair: (world: FaultsWorld) => Promise<unknown>,
  ): Promise<number> {
    for (let n = 1; ; n++) {
      const world = await FaultsWorld.open(open().engines);
      try {
        await prepare(world);
        table().inject((call) => (call.n >= n ? unreachable : undefined));
        await work(world);
        const wasReached = table().calls >= n;
        table().reset();
        await repair(world);
        open().datapoints.push(...world.datapoints);
        if (!wasReached) return n - 1;
      } finally {
        await world.close();
      }
    }
  }

  const launch = (world: FaultsWorld) => world.launch();
  const hold = async (world: FaultsWorld) => {
    const instance = await world.launch();
    expect(await world.deliver()).toBe("done");
    // Drop the follow-ups for the new node, which would only take time here.
    world.queue.messages = [];
    return instance;
  };
  const expectHeldAndThenReleased = async (world: FaultsWorld) => {
    expect(await marks()).toEqual(all);
    await world.advance(minutes(21));
    await world.expectOver();
  };

  describe("a database", () => {
    it("unreachable from any call of a launch on loses nothing: the redelivered message finishes the work, without a sweep", async () => {
      open().expectAlarms("function-errors");
      const calls = await atEveryCall(
        launch,
        (world) => world.deliver(),
        async (world) => {
          await world.advance(minutes(13));
          await expectHeldAndThenReleased(world);
        },
      );
      expect(calls).toBeGreaterThan(4);
    });

    it("unreachable from any call of a launch on loses nothing: one sweep finishes the work, although the messages are lost", async () => {
      open().expectAlarms("function-errors");
      const calls = await atEveryCall(
        async (world) => {
          const leave = await world.engines.join(await world.launch());
          world.onClose(leave);
        },
        (world) => world.deliver(),
        async (world) => {
          await world.loseEvents();
          expect(await world.sweep()).toBe("done");
          expect(await marks()).toEqual({ ...all, held: all.held + 1 });
        },
      );
      expect(calls).toBeGreaterThan(4);
    });

    it("unreachable from any call of a release on holds no node for ever: a retry ends the hold, without a sweep", async () => {
      open().expectAlarms("function-errors");
      const calls = await atEveryCall(
        hold,
        (world) => world.advance(minutes(20.1)),
        async (world) => {
          await world.advance(minutes(3));
          await world.expectOver();
        },
      );
      expect(calls).toBeGreaterThan(3);
    });

    it("unreachable from any call of a release on holds no node for ever: one sweep ends the hold, without a retry", async () => {
      open().expectAlarms("function-errors");
      const calls = await atEveryCall(
        hold,
        (world) => world.advance(minutes(20.1)),
        async (world) => {
          await world.loseEvents();
          expect(await world.sweep()).toBe("done");
          await world.expectOver();
        },
      );
      expect(calls).toBeGreaterThan(3);
    });

    it("that throttles loses no hold, and fails a launch that it throttles too long", async () => {
      const world = open();
      world.expectAlarms("function-errors");
      await world.launch();
      table().inject(({ n }) => (n > 2 ? throttledByDynamoDb : undefined));
      expect(await world.deliver()).toBe("failed");
      table().inject(({ n }) => (n % 2 === 0 ? throttledByDynamoDb : undefined));
      await world.advance(minutes(13));
      await expectHeldAndThenReleased(world);
    });

    it("whose answers are lost stores nothing twice", async () => {
      const world = open();
      await world.launch();
      let lost = 0;
      const isFirstTry = new Map<number, boolean>();
      table().inject((call) => {
        if (!isWrite(call)) return undefined;
        isFirstTry.set(call.n, !isFirstTry.get(call.n - 1));
        if (!isFirstTry.get(call.n)) return undefined;
        lost += 1;
        return { kind: "answer lost" };
      });
      expect(await world.deliver()).toBe("done");
      await world.advance(minutes(1));

      expect(lost).toBeGreaterThan(1);
      expect(await world.hold()).toMatchObject({ state: "held", launches: 1, nodes: all.held });
      await expectHeldAndThenReleased(world);
    });
  });

  describe("a record", () => {
    /** Holds the first write back until `continueWrite` is called, so that another function writes before it. */
    function holdBackFirstWrite(): Readonly<{ isWaiting: Promise<void>; continueWrite: () => void }> {
      const waiting = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      let isFirst = true;
      table().inject(async (call) => {
        if (!isWrite(call) || !isFirst) return undefined;
        isFirst = false;
        waiting.resolve();
        await gate.promise;
        return undefined;
      });
      return { isWaiting: waiting.promise, continueWrite: gate.resolve };
    }

    it("that two launches write at once counts both: the second writer decides again", async () => {
      const world = open();
      await world.launch();
      const [earlier] = world.queue.messages;
      await world.launch();
      const { isWaiting, continueWrite } = holdBackFirstWrite();
      const second = world.deliver(world.queue.messages.filter((one) => one !== earlier));
      await isWaiting;
      expect(await world.deliver()).toBe("done");
      continueWrite();

      expect(await second).toBe("done");
      expect(table().refusals.join()).toMatch(/ConditionalCheckFailed/);
      expect(await world.hold()).toMatchObject({ launches: 2, askedUntil: expect.any(Date) });
      await expectHeldAndThenReleased(world);
    });

    it("that a launch writes just before its release does is released later, and its marks stay all the time", async () => {
      const world = open();
      // Without a node that joins, a further launch would not extend the hold.
      const deleteNode = await world.engines.join(await world.launch());
      expect(await world.deliver()).toBe("done");
      world.queue.messages = [];
      await world.advance(minutes(19));
      const { isWaiting, continueWrite } = holdBackFirstWrite();
      const release = world.advance(minutes(1.1));
      await isWaiting;
      await world.launch();
      expect(await world.deliver()).toBe("done");
      continueWrite();
      await release;
      await deleteNode();

      expect(table().refusals.join()).toMatch(/ConditionalCheckFailed/);
      expect(await marks()).toEqual(all);
      expect(await world.hold()).toMatchObject({ state: "held", launches: 2, extensions: 1 });
      await expectHeldAndThenReleased(world);
    });
  });
}
