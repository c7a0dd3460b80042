import { describe, expect, it } from "vitest";
import { minutes } from "../../lambda/core/duration.ts";
import { TryAgainError } from "../../lambda/core/errors.ts";
import { onNodeLaunched } from "../../lambda/handlers/hold.ts";
import { launchEvent } from "../../simulator/fake-ec2.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { noon } from "../../simulator/virtual-clock.ts";
import { World } from "../../simulator/world.ts";
import { until } from "../support/context.ts";
import fc from "../support/fast-check.ts";

const deadline = new Date(noon.getTime() + 60_000);
const record = (body: unknown, n = 0) => ({
  messageId: `m-${n}`,
  body: typeof body === "string" ? body : JSON.stringify(body),
  attributes: { SentTimestamp: `${noon.getTime()}` },
});
const batchOf = (...bodies: unknown[]) => ({ Records: bodies.map(record) });
const failed = (...ns: number[]) => ({ batchItemFailures: ns.map((n) => ({ itemIdentifier: `m-${n}` })) });
const anInstance = "i-0abcd1234ef567890";

function aWorld(): World {
  const world = new World();
  world.ec2.add(anInstance, noon, "default");
  world.nodes.add("a");
  return world;
}
const callsOf = (world: World, name: string) => world.calls.filter((call) => call === name).length;
const handle = (world: World, event: unknown) =>
  onNodeLaunched(world.ports)(event, until(deadline, world.log));

describe("a batch", () => {
  it("is done together: one look-up, one write", async () => {
    const world = aWorld();
    const others = Array.from({ length: 99 }, (_, n) => `i-${(n + 1).toString(16).padStart(8, "0")}`);
    for (const one of others) world.ec2.add(one, noon, "default");

    const answer = await handle(
      world,
      batchOf(...[anInstance, ...others].map((one) => launchEvent(one, noon))),
    );

    expect(answer).toEqual(failed());
    expect(callsOf(world, "instances")).toBe(1);
    // The start; then the one-shot that was set, and how many nodes were marked.
    expect(callsOf(world, "write")).toBe(2);
    expect(world.holds.records.get("cluster")?.hold).toMatchObject({ launches: 100 });
  });

  it("is not blocked by a message that always fails", async () => {
    const world = aWorld();

    const answer = await handle(
      world,
      batchOf("not JSON", launchEvent(anInstance, noon), { source: "aws.s3" }),
    );

    expect(answer).toEqual(failed(0, 2));
    expect(world.nodes.held(holdId(1))).toEqual(["a"]);
    expect(world.log.reported("message cannot be read: it goes to the dead letters")).toHaveLength(2);
  });

  it.each(["instances", "find", "write", "list", "arm", "enqueue"])(
    "fails whole when something unexpected happens to its work: %s",
    async (what) => {
      const world = aWorld();
      world.refuses = (call) => call === what;

      await expect(handle(world, batchOf(launchEvent(anInstance, noon)))).rejects.toThrow(TryAgainError);
    },
  );

  it("that came twice changes nothing the second time", async () => {
    const world = aWorld();
    const batch = batchOf(launchEvent(anInstance, noon));
    await handle(world, batch);
    const before = structuredClone(world.holds.records.get("cluster"));

    await handle(world, batch);

    expect(world.holds.records.get("cluster")).toEqual(before);
    expect(callsOf(world, "arm")).toBe(1);
  });

  it("merges duplicate events and checks each scope once for pending nodes", async () => {
    const world = aWorld();
    const event = launchEvent(anInstance, noon);
    const awaited = [{ instance: anInstance, launchedAt: noon.toISOString() }];
    const followUp = { kind: "pendingNodes", scope: "cluster", attempt: 2, awaited };
    await handle(world, batchOf(event, event));
    world.queue.messages = [];
    const before = callsOf(world, "list");

    await handle(world, batchOf({ followUp }, { followUp: { ...followUp, attempt: 1 } }, { followUp }));

    expect(callsOf(world, "list") - before).toBe(1);
    expect(world.queue.messages.map(({ body }) => JSON.parse(body))).toEqual([
      { followUp: { ...followUp, attempt: 2 } },
    ]);
  });

  it("gives no launch up because another one was delayed", async () => {
    const world = aWorld();
    const followUp = (instance: string, firstSeenAt: Date) => {
      const launches = [{ instance, launchedAt: firstSeenAt.toISOString() }];
      return {
        followUp: { kind: "launches", attempt: 1, firstSeenAt: firstSeenAt.toISOString(), launches },
      };
    };
    const longAgo = new Date(noon.getTime() - 720_000);

    await handle(world, batchOf(followUp("i-00000001", longAgo), followUp("i-00000002", noon)));

    expect(world.queue.messages.map(({ body }) => body).join()).toContain("i-00000002");
  });

  it("with a probe answers it in the record and marks nothing", async () => {
    const world = aWorld();
    const detail = { id: "probe-1", cluster: "prod", sentAt: noon.toISOString() };

    await handle(world, batchOf({ source: "karpenter-node-holder.probe", detail }));

    expect(world.holds.probes.get("probe-1")).toMatchObject({
      sentAt: noon,
      queuedAt: noon,
      answeredAt: noon,
    });
    expect([world.holds.records.size, world.nodes.held(holdId(1))]).toEqual([0, []]);
  });

  it.each([undefined, null, 7, {}, { Records: {} }, { Records: [7] }, { Records: [{ body: "{}" }] }])(
    "that is none is refused by name: %j",
    async (event) => {
      await expect(handle(aWorld(), event)).rejects.toThrow(
        /^This batch cannot be used: .*(the event|Records)/,
      );
    },
  );

  it("of any content never crashes, changes nothing and names what is wrong", async () => {
    const almost = fc.record(
      {
        source: fc.constantFrom("aws.ec2", "karpenter-node-holder.probe", "x"),
        time: fc.oneof(fc.string(), fc.constant("2026-11-21T12:00:00Z")),
        detail: fc.oneof(
          fc.jsonValue(),
          fc.record({ state: fc.constantFrom("pending", "x"), "instance-id": fc.string() }),
        ),
        followUp: fc.oneof(
          fc.jsonValue(),
          fc.record({
            kind: fc.constantFrom("pendingNodes", "launches"),
            attempt: fc.jsonValue(),
            launches: fc.jsonValue(),
          }),
        ),
      },
      { requiredKeys: ["source"] },
    );
    const bodies = fc.oneof(
      fc.string(),
      fc.json(),
      almost.map((one) => JSON.stringify(one)),
    );

    await fc.assert(
      fc.asyncProperty(fc.array(bodies, { minLength: 1, maxLength: 10 }), async (garbage) => {
        const world = aWorld();

        const { batchItemFailures } = await handle(world, batchOf(...garbage));

        expect(batchItemFailures).toHaveLength(garbage.length);
        expect([world.holds.records.size, callsOf(world, "arm"), world.queue.messages]).toEqual([0, 0, []]);
        for (const line of world.log.lines) expect(line.fields.problems).not.toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it("of absurd size is refused, with a short list of problems", async () => {
    const world = aWorld();
    const huge = {
      ...launchEvent(anInstance, noon),
      source: "x".repeat(1_000_000),
      detail: Array(10_000).fill("y"),
    };
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    const many = {
      followUp: {
        kind: "pendingNodes",
        scope: "cluster",
        attempt: 1,
        awaited: Array.from({ length: 5_000 }, (_, n) => ({
          instance: `i-${n}`,
          launchedAt: noon.toISOString(),
        })),
      },
    };

    const answer = await handle(world, batchOf(huge, deep, many));

    expect(answer).toEqual(failed(0, 1, 2));
    for (const line of world.log.lines) expect(JSON.stringify(line).length).toBeLessThan(200_000);
    const reported = world.log.reported("message cannot be read: it goes to the dead letters");
    for (const line of reported) expect(JSON.stringify(line).length).toBeLessThan(1_000);
  });
});

describe("messages that others send to the queue", () => {
  it.each([
    { kind: "launches", attempt: 1, firstSeenAt: "2126-01-01T00:00:00Z", launches: [forged()] },
    { kind: "pendingNodes", attempt: 1, scope: "cluster", awaited: [forged()] },
  ])("ends within minutes, however far in the future it is dated: $kind", async (followUp) => {
    const world = new Scenario();
    world.addNode("a");
    await world.control({ do: "hold", reason: "so that nodes are awaited" });
    world.queue.send({ followUp });

    await world.pass(minutes(15));

    expect(world.queue.messages).toEqual([]);
  });

  it("a flood of probes costs two writes a batch", async () => {
    const world = aWorld();
    const probe = (id: number) => ({
      source: "karpenter-node-holder.probe",
      detail: { id: `flood-${id}`, cluster: "prod", sentAt: noon.toISOString() },
    });

    await handle(world, batchOf(...Array.from({ length: 10 }, (_, id) => probe(id))));

    expect(world.log.reported("probe answered")).toHaveLength(2);
  });
});

function forged() {
  return { instance: "i-0000000000000000f", launchedAt: "2126-01-01T00:00:00Z" };
}
