import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const at = (minute: number) => after(noon, minutes(minute));

/** A cluster in which Karpenter creates NodeClaims and writes events. */
class KarpenterWorld extends Scenario {
  constructor() {
    super();
    this.nodeClaims.refusedWith = undefined;
  }

  /** Launches for waiting pods. */
  demand() {
    const launch = this.launch();
    const name = `claim-of-${launch.node}`;
    this.nodeClaims.add({ name, createdAt: after(this.time, -seconds(2)), instance: launch.instance });
    return { ...launch, name };
  }

  nameAsReplacement({ name }: Readonly<{ name: string }>): void {
    this.nodeClaims.events.set(name, this.time);
  }

  /** A pod was scheduled to this NodeClaim's node or removed from it. */
  use({ name }: Readonly<{ name: string }>): void {
    this.nodeClaims.use(name);
  }
}

describe("a replacement", () => {
  it("starts no hold when its event comes while the answer about events is on its way", async () => {
    const world = new KarpenterWorld();
    const late = world.demand();
    const invocation = await world.deliver();
    while (invocation.waitsFor !== "events") await world.step(invocation);
    await world.step(invocation, "answer late");
    world.clock.pass(seconds(3));
    world.nameAsReplacement(late);
    await world.finish(invocation);
    await world.pass(minutes(5));

    expect(world.history()).toEqual([]);
    expect(world.hold()).toBeUndefined();
  });
});

describe("a demand launch", () => {
  it("is protected within two seconds, whatever is replaced at the same time", async () => {
    const world = new KarpenterWorld();
    world.nameAsReplacement(world.demand());
    const { instance } = world.demand();
    await world.pass(seconds(2));

    expect(world.hold()).toMatchObject({ state: "held", launches: 1, causes: { launches: { default: 1 } } });
    expect(world.log.reported("launch judged").find(({ kind }) => kind === "demand")?.instances).toEqual([
      instance,
    ]);
  });
});

describe("a hold whose nodes are in use", () => {
  it("is released one hold length after the last use, with one list when it is due", async () => {
    const world = new KarpenterWorld();
    world.sweepEvery = undefined;
    const burst = world.demand();
    await world.pass(minutes(15));
    world.use(burst);
    await world.pass(minutes(6));
    const extended = world.hold();
    await world.pass(minutes(13));
    const nearTheEnd = world.heldNodes();
    await world.pass(minutes(3));

    expect(extended).toMatchObject({ expiresAt: at(35), causes: { uses: 1, usedAt: at(15) } });
    expect(nearTheEnd).toEqual([burst.node]);
    expect(world.marks()).toEqual({});
    expect(world.metrics.total("HoldsExtendedByUse")).toBe(1);
  });

  it("is not released by a one-shot that comes early, and by whose next call the hold is due", async () => {
    const world = new KarpenterWorld();
    world.sweepEvery = undefined;
    const burst = world.demand();
    await world.pass(minutes(15));
    world.use(burst);
    await world.pass(minutes(5) - seconds(1));
    const invocation = await world.fireNext();
    await world.step(invocation);
    world.clock.pass(seconds(2));
    await world.finish(invocation);
    await world.pass(minutes(10));

    expect(world.heldNodes()).toEqual([burst.node]);
  });

  it("is not released by a sweep that runs before the one-shot", async () => {
    const world = new KarpenterWorld();
    const burst = world.demand();
    await world.pass(minutes(15));
    world.use(burst);
    world.oneShots.armed.clear();
    await world.pass(minutes(10));
    expect(world.heldNodes()).toEqual([burst.node]);
  });
});
