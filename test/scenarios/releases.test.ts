import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../lambda/core/duration.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import type { Invocation } from "../../simulator/invocation.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const at = (minute: number) => after(noon, minutes(minute));
const names = ["a", "b", "c"];

/** A cluster whose hold is due now; its release runs next. */
async function due(): Promise<{ world: Scenario; release: Invocation }> {
  const world = new Scenario();
  world.sweepEvery = undefined;
  for (const name of names) world.addNode(name);
  world.launch({ joinsAfter: seconds(30) });
  await world.pass(seconds(20 * 60 - 1));
  world.time = at(20);
  return { world, release: await world.fireNext() };
}

async function releaseCalls(): Promise<number> {
  const { world, release } = await due();
  await world.finish(release);
  return release.calls;
}
const moments = Array.from({ length: (await releaseCalls()) + 1 }, (_, n) => n);

describe("a launch during a release", () => {
  it.each(moments)(
    "ends with a hold, and no node that stayed marked was without a mark: after %i calls of the release",
    async (calls) => {
      const { world, release } = await due();
      while (release.calls < calls && release.state === "running") await world.step(release);
      const isFenced = world.hold()?.ended !== undefined;
      const stillMarked = world.heldNodes();

      world.launch({ joinsAfter: seconds(30) });
      await world.finish(await world.deliver());
      await world.finish(release);
      await world.pass(minutes(2));

      expect(world.hold()).toMatchObject({
        state: "held",
        id: isFenced ? holdId(2) : holdId(1),
        expiresAt: at(40),
      });
      expect(world.heldNodes()).toEqual([...names, "node-1", "node-2"]);
      for (const name of stillMarked) {
        expect(world.nodes.history(name)).toEqual([undefined, "true"]);
      }
      await world.pass(minutes(20));
      expect(world.marks()).toEqual({});
      expect(
        world
          .history()
          .map(({ id }) => id)
          .toSorted(),
      ).toEqual(isFenced ? [holdId(1), holdId(2)] : [holdId(1)]);
    },
  );

  it("loses nothing in any interleaving of the two functions' calls", async () => {
    for (let first = 0; first < 12; first++) {
      for (let second = 0; second < 16; second++) {
        const { world, release } = await due();
        world.launch({ joinsAfter: seconds(30) });
        for (let n = 0; n < first; n++) await world.step(release);
        const hold = await world.deliver();
        for (let n = 0; n < second; n++) await world.step(hold);
        await world.finish(release);
        await world.finish(hold);

        await world.pass(minutes(2));

        expect(world.heldNodes(), `${first} calls of the release, then ${second} of the hold`).toEqual([
          ...names,
          "node-1",
          "node-2",
        ]);
        await world.pass(minutes(20));
        expect(world.marks()).toEqual({});
      }
    }
  });
});

describe("the cap", () => {
  /** A launch every five minutes. */
  async function stream(world: Scenario, forMinutes: number): Promise<void> {
    for (let minute = 0; minute < forMinutes; minute += 5) {
      world.launch();
      await world.pass(minutes(5));
    }
  }

  it("ends a hold under constant launches; the breather holds nothing; later launches hold again", async () => {
    const world = new Scenario();
    world.addNode("old");

    await stream(world, 120);
    const afterTheCap = [world.hold(), world.marks()];
    await stream(world, 10);
    const inTheBreather = [world.hold(), world.marks()];
    await stream(world, 5);

    expect(afterTheCap).toEqual([undefined, {}]);
    expect(inTheBreather).toEqual([undefined, {}]);
    expect(world.hold()).toMatchObject({ startedAt: at(130), expiresAt: at(150) });
    expect(world.history()).toMatchObject([
      { capped: true, endedAt: at(120), endedBecause: "the hold has reached its cap" },
    ]);
    expect(world.metrics.total("HoldsCapped")).toBe(1);
  });
});
