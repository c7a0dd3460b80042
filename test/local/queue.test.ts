import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { InProcessQueue } from "../../local/holder/queue.ts";
import { CollectedLog } from "../../simulator/collected-log.ts";
import { noon, VirtualClock } from "../../simulator/virtual-clock.ts";

type Batch = Readonly<{ at: Date; ids: readonly string[]; bodies: readonly unknown[] }>;
type Received = Readonly<{ Records: readonly Readonly<{ messageId: string; body: string }>[] }>;

/** A queue whose batches are kept; `fails` decides which of them fail, whole or in part. */
function prepare(fails: (batch: Batch, count: number) => "all" | readonly string[] = () => []) {
  const clock = new VirtualClock(noon);
  const batches: Batch[] = [];
  const events: unknown[] = [];
  const queue = new InProcessQueue({
    clock,
    log: new CollectedLog(),
    deliver: async (event) => {
      events.push(event);
      const { Records } = event as Received;
      const bodies = Records.map(({ body }) => JSON.parse(body));
      const batch = { at: clock.now(), ids: Records.map(({ messageId }) => messageId), bodies };
      batches.push(batch);
      const failed = fails(batch, batches.length);
      if (failed === "all") throw new Error("so it was planned");
      return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
    },
  });
  const pass = (duration: number) => clock.runUntil(after(clock.now(), duration));
  return { queue, batches, events, clock, pass };
}

describe("the queue within one process", () => {
  it("delivers messages that come together in one batch", async () => {
    const { queue, batches, events, pass } = prepare();
    queue.send("a");
    queue.send("b");
    await pass(minutes(1));
    expect(batches).toMatchObject([{ at: after(noon, seconds(1)), bodies: ["a", "b"] }]);
    const attributes = { SentTimestamp: String(noon.getTime()) };
    const [a, b] = ["message-1", "message-2"].map((messageId) => ({ messageId, attributes }));
    expect(events).toMatchObject([{ Records: [a, b] }]);
  });

  it("delivers no more than a hundred at once, and all of them", async () => {
    const { queue, batches, pass } = prepare();
    for (let i = 0; i < 250; i++) queue.send(i);
    await pass(minutes(1));
    expect(batches.map(({ bodies }) => bodies.length)).toEqual([100, 100, 50]);
  });

  it("keeps a follow-up until its delay is over, in the functions' format", async () => {
    const { queue, batches, pass } = prepare();
    const followUp = { kind: "scope", scope: "cluster", isLook: false } as const;
    await queue.enqueue(followUp, seconds(15));
    await pass(seconds(15));
    expect(batches).toEqual([]);
    await pass(seconds(1));
    expect(batches[0]?.bodies).toEqual([{ followUp }]);
  });

  it("redelivers a whole batch when its delivery failed", async () => {
    const { queue, batches, pass } = prepare((_, count) => (count === 1 ? "all" : []));
    queue.send("a");
    queue.send("b");
    await pass(minutes(2));
    expect(batches.map(({ bodies }) => bodies)).toEqual([
      ["a", "b"],
      ["a", "b"],
    ]);
    expect(batches[1]?.ids).toEqual(batches[0]?.ids);
    expect(batches[1]?.at).toEqual(after(noon, seconds(31)));
  });

  it("redelivers only the reported messages", async () => {
    const { queue, batches, pass } = prepare(({ ids }, count) => (count === 1 ? ids.slice(0, 1) : []));
    queue.send("a");
    queue.send("b");
    await pass(minutes(2));
    expect(batches.map(({ bodies }) => bodies)).toEqual([["a", "b"], ["a"]]);
  });

  it("makes a message that always fails a dead letter, and delivers the others", async () => {
    const { queue, batches, pass } = prepare(({ ids, bodies }) =>
      ids.filter((_, i) => bodies[i] === "poison"),
    );
    queue.send("poison");
    await pass(minutes(5));
    queue.send("good");
    await pass(minutes(5));
    expect(batches.map(({ bodies }) => bodies.join())).toEqual([...Array(5).fill("poison"), "good"]);
    expect(queue.deadLetters.map(({ body }) => body)).toEqual(['"poison"']);
  });

  it("delivers nothing more once it is closed", async () => {
    const { queue, batches, clock, pass } = prepare();
    queue.send("a");
    await queue.close();
    queue.send("b");
    expect(clock.next).toBeUndefined();
    await pass(minutes(5));
    expect(batches).toEqual([]);
  });
});
