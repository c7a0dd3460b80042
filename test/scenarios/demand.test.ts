import { describe, expect, it } from "vitest";
import { after, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import type { Rules } from "../../lambda/core/rules.ts";
import type { LaunchOptions } from "../../simulator/fake-ec2.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const at = (minute: number) => after(noon, minutes(minute));

/** A cluster in which Karpenter creates NodeClaims and writes events. */
class KarpenterWorld extends Scenario {
  constructor(rules: Partial<Rules> = {}) {
    super(rules);
    this.nodeClaims.refusedWith = undefined;
  }

  /** Launches for waiting pods. */
  demand(about: LaunchOptions = {}) {
    const launch = this.launch(about);
    const name = `claim-of-${launch.node}`;
    this.nodeClaims.add({ name, createdAt: after(this.time, -seconds(2)), instance: launch.instance });
    return { ...launch, name };
  }

  /** Launches that replace other nodes. */
  replacement(about: LaunchOptions & Readonly<{ isNamed?: boolean }> = {}) {
    const { isNamed = true, ...rest } = about;
    const launch = this.demand(rest);
    if (isNamed) this.nameAsReplacement(launch);
    return launch;
  }

  nameAsReplacement({ name }: Readonly<{ name: string }>): void {
    this.nodeClaims.events.set(name, this.time);
  }

  /** A pod was scheduled to this NodeClaim's node or removed from it. */
  use({ name }: Readonly<{ name: string }>): void {
    this.nodeClaims.use(name);
  }
}

const verdicts = (world: Scenario) => world.log.reported("launch judged").map(({ kind }) => kind);

describe("a replacement", () => {
  it("starts no hold when its event comes while the answer about events is on its way", async () => {
    const world = new KarpenterWorld();
    const late = world.replacement({ isNamed: false });
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

  it("starts no hold, also when its event comes after the instance", async () => {
    const world = new KarpenterWorld();
    const late = world.replacement({ isNamed: false });
    await world.pass(seconds(1));
    world.nameAsReplacement(late);
    await world.pass(minutes(3));

    expect(world.holds.records.get("cluster")?.hold).toBeUndefined();
    expect(verdicts(world)).toEqual(["unknown yet", "replacement"]);
    expect(world.metrics.total("ReplacementsIgnored")).toBe(1);
  });

  it("starts no hold later either, when its event has expired and a sweep finds its unmarked node", async () => {
    const world = new KarpenterWorld({ hold: hours(6), maxHold: hours(12) });
    const replacement = world.replacement();
    await world.pass(minutes(60));
    world.nodeClaims.events.clear();
    world.sendEvent(replacement);
    await world.pass(hours(4));

    expect(world.history()).toEqual([]);
    expect(world.hold()).toBeUndefined();
  });

  it("extends no hold, and its node is marked like any other during a hold", async () => {
    const world = new KarpenterWorld();
    world.demand();
    await world.pass(minutes(10));
    world.sweepEvery = undefined;
    const { node } = world.replacement();
    await world.pass(minutes(2));

    expect(world.heldNodes()).toContain(node);
    expect(world.hold()?.expiresAt).toEqual(at(20));
    await world.pass(minutes(9));
    expect(world.marks()).toEqual({});
  });
});

describe("a demand launch", () => {
  it("is protected within two seconds, whatever is replaced at the same time", async () => {
    const world = new KarpenterWorld();
    world.replacement();
    const { instance } = world.demand();
    await world.pass(seconds(2));

    expect(world.hold()).toMatchObject({ state: "held", launches: 1, causes: { launches: { default: 1 } } });
    expect(world.log.reported("launch judged").find(({ kind }) => kind === "demand")?.instances).toEqual([
      instance,
    ]);
  });

  it("waits until a replacement's instance is known, and holds after a minute in doubt", async () => {
    const world = new KarpenterWorld();
    world.nodeClaims.add({ name: "slow", createdAt: noon });
    world.nameAsReplacement({ name: "slow" });
    world.demand();
    await world.pass(seconds(50));
    const inDoubt = world.hold();
    await world.pass(seconds(15));

    expect(inDoubt).toBeUndefined();
    expect(world.hold()?.state).toBe("held");
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
