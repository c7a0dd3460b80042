import { describe, expect, it } from "vitest";
import { minutes } from "../../../lambda/core/duration.ts";
import { all, none } from "./engines.ts";
import type { Fault } from "./faulty-proxy.ts";
import type { FaultsWorld } from "./world.ts";

const throttledByScheduler: Fault = {
  kind: "answer",
  status: 429,
  headers: { "content-type": "application/json", "x-amzn-errortype": "ThrottlingException" },
  body: '{"Message":"Rate exceeded"}',
};
const unauthorized: Fault = {
  kind: "answer",
  status: 403,
  headers: { "content-type": "text/xml" },
  body: "<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>You are not authorized</Message></Error></Errors></Response>",
};

/** Faults of Scheduler, of EC2, and of all of AWS at once. */
export function awsFaults(open: () => FaultsWorld): void {
  const marks = () => open().engines.marks();

  describe("a scheduler", () => {
    it("that refuses does not prevent marks: the sweep marks all nodes, and sets the one-shots of look and end as soon as it can", async () => {
      const world = open();
      world.expectAlarms("function-errors");
      await world.launch();
      const { scheduler } = world.engines;
      scheduler.inject(() => throttledByScheduler);
      expect(await world.deliver()).toBe("failed");
      expect(await marks()).toEqual(none);
      expect(await world.sweep()).toBe("failed");
      expect(await marks()).toEqual(all);
      await world.loseEvents();

      scheduler.reset();
      expect(await world.sweep()).toBe("done");
      expect(await world.oneShots.all()).toHaveLength(2);
      await world.advance(minutes(21));
      await world.expectOver();
    });

    it("that refuses the next one-shot of an extended hold holds no node for ever: one sweep sets the one-shot", async () => {
      const world = open();
      world.expectAlarms("function-errors");
      world.onClose(await world.engines.join(await world.launch()));
      expect(await world.deliver()).toBe("done");
      await world.advance(minutes(9));
      await world.launch();
      expect(await world.deliver()).toBe("done");
      const { scheduler } = world.engines;
      scheduler.inject(() => throttledByScheduler);
      await world.advance(minutes(14));
      expect(await world.oneShots.all()).toEqual([]);
      expect(await marks()).toEqual({ ...all, held: all.held + 1 });

      scheduler.reset();
      expect(await world.sweep()).toBe("done");
      await world.advance(minutes(7));
      await world.expectOver();
    });
  });

  describe("EC2", () => {
    it("that refuses to describe instances loses no launch: the sweep finds the launch once EC2 answers", async () => {
      const world = open();
      world.expectAlarms("function-errors");
      world.onClose(await world.engines.join(await world.launch()));
      const { ec2 } = world.engines;
      ec2.inject(() => unauthorized);
      expect(await world.deliver()).toBe("failed");
      await world.loseEvents();
      expect(await world.sweep()).toBe("failed");
      expect(await world.hold()).toBeUndefined();

      ec2.reset();
      expect(await world.sweep()).toBe("done");
      expect(await marks()).toEqual({ ...all, held: all.held + 1 });
      expect(world.log.reported("launches were missed")).toHaveLength(1);
    });

    it("that does not answer fails the launch in time; the next delivery holds everything", async () => {
      const world = open();
      world.expectAlarms("function-errors");
      await world.launch();
      const { ec2 } = world.engines;
      ec2.inject(() => ({ kind: "silent" }));
      expect(await world.deliver()).toBe("failed");

      ec2.inject(() => ({ kind: "slow", ms: 500 }));
      await world.advance(minutes(13));
      expect(await marks()).toEqual(all);
    });
  });

  describe("all of AWS", () => {
    it("unreachable during a hold loses nothing: a launch meanwhile extends the hold, and its one-shot still fires", async () => {
      const world = open();
      world.expectAlarms("function-errors");
      const { dynamodb, ec2, scheduler } = world.engines;
      world.onClose(await world.engines.join(await world.launch()));
      expect(await world.deliver()).toBe("done");
      const before = await world.oneShots.all();
      await world.advance(minutes(1));
      await world.launch();
      for (const service of [dynamodb, ec2, scheduler]) service.inject(() => ({ kind: "unreachable" }));
      expect(await world.deliver()).toBe("failed");
      expect(await world.sweep()).toBe("failed");
      expect(await marks()).toEqual({ ...all, held: all.held + 1 });

      for (const service of [dynamodb, ec2, scheduler]) service.reset();
      expect(await world.oneShots.all()).toEqual(before);
      await world.advance(minutes(13));
      expect(await world.hold()).toMatchObject({ launches: 2, extensions: 1 });
      await world.advance(minutes(8));
      await world.expectOver();
    });
  });
}
