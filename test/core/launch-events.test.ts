import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { mergeLaunches, resolveLaunches } from "../../lambda/core/launch-events.ts";
import type { LaunchEvent } from "../../lambda/core/ports.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import { World } from "../../simulator/world.ts";
import { coreWorld } from "../support/core-world.ts";
import { at } from "./plans.ts";

const event = (instance: string, launchedAt = at(-1)): LaunchEvent => ({ instance, launchedAt });

describe("the launches of a batch of messages", () => {
  it("are one batch of new ones, and one for each attempt of those that are tried again", () => {
    const followUp = (attempt: number, firstSeenAt: Date, instance: string) =>
      ({ kind: "launches", attempt, firstSeenAt, launches: [event(instance)] }) as const;
    const later = at(1);
    expect(
      mergeLaunches(
        [event("i-1"), event("i-1", later)],
        [followUp(2, at(0), "i-2"), followUp(2, later, "i-3"), followUp(3, at(0), "i-4")],
        later,
      ),
    ).toEqual([
      { attempt: 0, firstSeenAt: later, launches: [event("i-1", later)] },
      { attempt: 2, firstSeenAt: later, launches: [event("i-2"), event("i-3")] },
      { attempt: 3, firstSeenAt: at(0), launches: [event("i-4")] },
    ]);
  });

  it("are none where all messages ask for another look at a scope", () => {
    expect(mergeLaunches([], [{ kind: "scope", scope: "cluster", isLook: true }], at(0))).toEqual([]);
  });

  it("count a duplicate at its later time, whichever comes first", () => {
    const [batch] = mergeLaunches([event("i-1", at(1)), event("i-1")], [], at(1));
    expect(batch?.launches).toEqual([event("i-1", at(1))]);
  });

  it("were seen by now at the latest, so that every one of them is given up in the end", () => {
    const ofFuture = {
      kind: "launches",
      attempt: 1,
      firstSeenAt: at(600),
      launches: [event("i-1")],
    } as const;
    expect(mergeLaunches([], [ofFuture], at(0))[0]?.firstSeenAt).toEqual(at(0));
  });
});

type Facts = Readonly<{
  /** The NodePool of the instance; null: it is not Karpenter's; undefined: the cloud does not know it. */
  nodePool?: string | null;
  rules?: Partial<Rules>;
  attempt?: number;
  firstSeenAt?: Date;
  launchedAt?: Date;
}>;

/** Resolves one launch at noon. */
async function resolve({
  nodePool,
  rules = {},
  attempt = 0,
  firstSeenAt = at(0),
  launchedAt = at(-1),
}: Facts) {
  const { world, context, metrics } = coreWorld({ rules });
  if (nodePool !== undefined) world.ec2.add("i-1", launchedAt, nodePool ?? undefined);
  const { launches: found } = await resolveLaunches(context(), {
    launches: [event("i-1", launchedAt)],
    firstSeenAt,
    attempt,
  });
  const queued = world.queue.messages.map(({ body, visibleAt }) => ({
    ...JSON.parse(body).followUp,
    delay: visibleAt.getTime() - at(0).getTime(),
  }));
  const counted = [metrics.total("LaunchesSeen"), metrics.total("LaunchesIgnored")];
  return { found, queued, counted, calls: world.calls };
}
const retried = (attempt: number, delay: number) => [
  {
    kind: "launches",
    launches: [{ instance: "i-1", launchedAt: at(-1).toISOString() }],
    firstSeenAt: at(0).toISOString(),
    attempt,
    delay,
  },
];

describe("a launch", () => {
  it("of this cluster's Karpenter is one in its NodePool, at the time of its event", async () => {
    expect(await resolve({ nodePool: "batch" })).toMatchObject({
      found: [{ instance: "i-1", nodePool: "batch", launchedAt: at(-1) }],
      queued: [],
      counted: [1, 0],
    });
  });

  it("counts from when its instance was launched, where what reports it came later", async () => {
    const { world, context } = coreWorld();
    world.ec2.add("i-1", at(-3), "batch");
    const batch = { launches: [event("i-1")], firstSeenAt: at(0), attempt: 0 };
    expect((await resolveLaunches(context(), batch)).launches).toMatchObject([{ launchedAt: at(-3) }]);
  });

  it("is counted as seen once, however often it is tried", async () => {
    expect((await resolve({ nodePool: "batch", attempt: 1 })).counted).toEqual([0, 0]);
  });

  it("from the future is one of now", async () => {
    expect((await resolve({ nodePool: "batch", launchedAt: at(60) })).found).toMatchObject([
      { launchedAt: at(0) },
    ]);
  });

  it("waits until its initial delay is over, before any other call, and only once", async () => {
    const rules = { initialDelay: minutes(5) };
    const first = await resolve({ rules, nodePool: "batch" });
    expect([first.queued, first.found, first.calls]).toEqual([
      retried(1, minutes(4) + seconds(5)),
      [],
      ["enqueue"],
    ]);
    expect((await resolve({ rules, nodePool: "batch", launchedAt: at(60) })).queued).toMatchObject([
      { delay: minutes(5) + seconds(5) },
    ]);
    expect((await resolve({ rules, nodePool: "batch", launchedAt: at(-5) })).found).toHaveLength(1);
    expect((await resolve({ rules, nodePool: "batch", attempt: 1 })).found).toHaveLength(1);
  });

  it("that is due does not wait for others of its batch, and those wait until the last of them is due", async () => {
    const { world, context } = coreWorld({ rules: { initialDelay: minutes(5) } });
    const times = { due: at(-5), early: at(-4), younger: at(-1) };
    const launches = Object.entries(times).map(([name, launchedAt]) => event(`i-${name}`, launchedAt));
    world.ec2.add("i-due", at(-5), "batch");
    const found = await resolveLaunches(context(), { launches, firstSeenAt: at(0), attempt: 0 });
    expect(found.launches.map(({ instance }) => instance)).toEqual(["i-due"]);
    const [{ body = "{}", visibleAt = undefined } = {}] = world.queue.messages;
    expect(JSON.parse(body).followUp.launches).toHaveLength(2);
    expect(visibleAt).toEqual(after(at(4), seconds(5)));
  });

  it("holds after its initial delay, also where the next function's clock is behind", async () => {
    const world = new World({ initialDelay: minutes(1) });
    world.nodeClaims.refusedWith = 403;
    world.ec2.launch({ pool: "batch", joinsAfter: 0, eventAfter: 0 });
    await world.finish(await world.deliver(world.queue.due(), seconds(1)));
    for (let n = 0; n < 70; n++) {
      await world.clock.runUntil(after(world.time, seconds(1)));
      if (world.queue.due().length > 0) await world.finish(await world.deliver());
    }
    expect(world.nodes.held()).toHaveLength(1);
  });

  it.each<[string, Facts]>([
    ["an instance of others", { nodePool: null }],
    [
      "a NodePool that the settings leave out",
      { nodePool: "system", rules: { nodePools: { only: [], except: ["system"] } } },
    ],
  ])("of %s is ignored for good", async (_, facts) => {
    expect(await resolve(facts)).toMatchObject({ found: [], queued: [], counted: [1, 1] });
  });
});

describe("a launch that the cloud does not know yet", () => {
  it.each([...[2, 5, 15, 15, 20, 30, 30, 60, 60, 120, 120].map(seconds).entries()])(
    "is asked for again at attempt %i after %i ms",
    async (attempt, delay) => {
      expect((await resolve({ attempt })).queued).toEqual(retried(attempt + 1, delay));
    },
  );

  it("is given up ten minutes after the initial delay", async () => {
    const seen = (minute: number) => ({
      rules: { initialDelay: minutes(2) },
      attempt: 3,
      firstSeenAt: at(minute),
    });
    expect(await resolve(seen(-12))).toMatchObject({ queued: [], counted: [0, 1] });
    expect((await resolve(seen(-11.9))).queued).toHaveLength(1);
  });
});
