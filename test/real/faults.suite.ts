import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { minutes } from "../../lambda/core/duration.ts";
import { all, FaultsWorld, none } from "./faults-world.ts";
import type { Fault } from "./faulty-proxy.ts";

const away: Fault = { kind: "away" };
const throttled: Fault = { kind: "answer", status: 429, headers: { "retry-after": "1" }, body: "{}" };
const broken: Fault = { kind: "answer", status: 500, body: "{}" };
const refused: Fault = { kind: "answer", status: 401, body: '{"message":"Unauthorized"}' };
const tooMuch: Fault = {
  kind: "answer",
  status: 400,
  headers: { "content-type": "application/x-amz-json-1.0" },
  body: '{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"slow down"}',
};

describe("faults of real engines", () => {
  let world: FaultsWorld;
  beforeAll(async () => {
    world = await FaultsWorld.start();
  });
  afterAll(async () => world?.stop());

  /** Every case begins and ends with nothing held. */
  async function releaseAll(): Promise<void> {
    world.kubernetes.mend();
    world.dynamodb.mend();
    world.pass(minutes(30));
    for (let tries = 0; tries < 3 && (await world.expire()) === "failed"; tries++) world.pass(minutes(2));
    expect(await world.sweep()).toBe("done");
    expect(await world.marks()).toEqual(none);
    expect(await world.hold()).toBeUndefined();
  }

  it("an API server out of reach in the middle of marking loses nothing: one sweep marks the rest", async () => {
    const launch = world.aLaunch();
    const begun = world.kubernetes.calls;
    world.kubernetes.fault = ({ n }) => (n > begun + 100 ? away : undefined);
    await launch();
    const { held } = await world.marks();
    expect(held).toBeGreaterThan(0);
    expect(held).toBeLessThan(all.held);
    expect(world.isAlarmWorthy()).toBe(true);

    world.kubernetes.mend();
    expect(await world.sweep()).toBe("done");
    expect(await world.marks()).toEqual(all);
    await releaseAll();
  });

  it("an API server out of reach in the middle of releasing holds nothing for ever: one sweep ends it", async () => {
    expect(await world.aLaunch()()).toBe("done");
    world.pass(minutes(21));
    const begun = world.kubernetes.calls;
    world.kubernetes.fault = ({ n }) => (n > begun + 100 ? away : undefined);
    await world.expire();
    const { held } = await world.marks();
    expect(held).toBeGreaterThan(0);
    expect(held).toBeLessThan(all.held);

    world.kubernetes.mend();
    expect(await world.sweep()).toBe("done");
    expect(await world.marks()).toEqual(none);
    await releaseAll();
  });

  it("a slow API server that throttles and fails every third call only takes longer", async () => {
    world.kubernetes.fault = ({ n }) => {
      if (n % 30 === 0) return throttled;
      if (n % 3 === 0) return broken;
      return n % 3 === 1 ? { kind: "slow", ms: 20 } : undefined;
    };
    expect(await world.aLaunch()()).toBe("done");
    expect(await world.marks()).toEqual(all);
    expect(world.metrics.total("ApiThrottled")).toBeGreaterThan(0);
    await releaseAll();
  });

  it("a login that is refused fails the launch and marks nothing; once it is given back, one sweep marks all", async () => {
    const launch = world.aLaunch();
    world.kubernetes.fault = () => refused;
    expect(await launch()).toBe("failed");
    expect(await world.marks()).toEqual(none);
    expect(await world.hold()).toMatchObject({ state: "held" });

    world.kubernetes.mend();
    expect(await world.sweep()).toBe("done");
    expect(await world.marks()).toEqual(all);
    await releaseAll();
  });

  it("a database out of reach fails the launch, which holds everything when it comes again", async () => {
    const launch = world.aLaunch();
    world.dynamodb.fault = () => away;
    expect(await launch()).toBe("failed");
    world.dynamodb.mend();
    expect(await world.marks()).toEqual(none);

    expect(await launch()).toBe("done");
    expect(await world.marks()).toEqual(all);
    await releaseAll();
  });

  it("a database that throttles half of all calls loses no hold", async () => {
    world.dynamodb.fault = ({ n }) => (n % 2 === 0 ? tooMuch : undefined);
    const launch = world.aLaunch();
    for (let tries = 0; tries < 10 && (await launch()) === "failed"; tries++) world.pass(1_000);
    world.dynamodb.mend();
    expect(await world.sweep()).toBe("done");
    expect(await world.marks()).toEqual(all);
    await releaseAll();
  });

  it("a launch whose one-shot could never be set is held by the sweep, which sets the one-shot too", async () => {
    const launch = world.aLaunch();
    world.schedules.hooks = {
      before: () => {
        throw new Error("the scheduler is away");
      },
    };
    for (let delivery = 1; delivery <= 5; delivery++) expect(await launch()).toBe("failed");
    world.schedules.hooks = {};
    expect(await world.sweep()).toBe("done");
    expect(await world.marks()).toEqual(all);
    expect(world.schedules.armed.size).toBe(1);
    await releaseAll();
  });
});
