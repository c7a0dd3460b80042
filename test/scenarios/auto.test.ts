import { describe, expect, it } from "vitest";
import { parseHistory, parseStatus } from "../../cli/answers.ts";
import { historyTable } from "../../cli/commands/history.ts";
import { statusView } from "../../cli/commands/status.ts";
import type { Bursts } from "../../lambda/core/auto/bursts.ts";
import { after, type Duration, minutes, seconds } from "../../lambda/core/duration.ts";
import { wholeCluster } from "../../lambda/core/scope.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { noon } from "../../simulator/virtual-clock.ts";

const at = (minute: number) => after(noon, minutes(minute));

/** A cluster with `hold=auto`, whose launches have NodeClaims with the given use. */
class AutoScenario extends Scenario {
  constructor(about: ConstructorParameters<typeof Scenario>[0] = {}) {
    super({ hold: minutes(10), auto: true, ...about });
  }

  get learned(): Bursts | undefined {
    return this.holds.records.get(wholeCluster)?.learned;
  }

  /** Launches one node that is first used this long after its launch; null: never. */
  burst(usedAfter: Duration | null = seconds(40)): (usedAt: Date) => void {
    const { node: name, instance, launchedAt } = this.launch();
    const use = (lastPodEventAt?: Date) =>
      this.nodeClaims.add({
        name,
        instance,
        createdAt: launchedAt,
        ...(lastPodEventAt && { lastPodEventAt }),
      });
    use(usedAfter === null ? undefined : after(launchedAt, usedAfter));
    return use;
  }

  /** How many minutes each hold lasted, rounded up. */
  lasted(): readonly number[] {
    return this.history()
      .toSorted((a, b) => a.startedAt.getTime() - b.startedAt.getTime())
      .map(({ startedAt, endedAt }) => Math.ceil((endedAt.getTime() - startedAt.getTime()) / minutes(1)));
  }
}

describe("hold=auto", () => {
  it("first holds for as long as a relaunch is worth, and not at all when bursts do not return", async () => {
    const world = new AutoScenario();
    for (let i = 0; i < 3; i++) {
      world.burst();
      await world.pass(minutes(90));
    }

    expect(world.lasted()).toEqual([11, 2, 2]);
    // Ten minutes after the first burst was used, and the last minute of the others, which no hold is shorter than.
    expect(world.metrics.total("IdleNodeMinutes")).toBe(12);
    expect(world.metrics.total("RelaunchesSpared")).toBe(0);
    expect(world.history().map(({ length }) => length?.because)).toEqual([
      "nothing is learned yet, so for as long as one relaunch is worth",
      ...[1, 2].map(() => "100 % of the pauses were longer than 10m, so waiting costs more than it saves"),
    ]);
  });

  it("is shown with its reason by status and history", async () => {
    const world = new AutoScenario();
    world.burst();
    await world.pass(minutes(90));
    world.burst();
    await world.pass(minutes(30));

    const plain = (_: unknown, text: string) => text;
    const wire = (answer: unknown): unknown => JSON.parse(JSON.stringify(answer));
    const status = parseStatus(wire({ version: "1", ...(await world.control({ do: "status" })) }));
    const history = parseHistory(wire(await world.control({ do: "history" })));
    const reason = "0s: 100 % of the pauses were longer than 10m, so waiting costs more than it saves";
    expect(statusView(status, plain, false)).toContain(`  after a burst of any size ${reason}`);
    expect(statusView(status, plain, false)[0]).toContain("learns how long to hold");
    expect(historyTable(history, world.time, plain, true).join("\n")).toContain(reason);
    // Each sweep reports what it is now.
    expect([...new Set(world.metrics.all("LearnedHoldMs"))]).toEqual([minutes(10), 0]);
  });

  it.each(["hold", "release"] as const)(
    "learns the same when the %s function crashes after any call",
    async (name) => {
      const learnedWith = async (calls?: number) => {
        const world = new AutoScenario();
        const use = world.burst();
        await world.pass(minutes(8));
        use(at(8));
        if (calls !== undefined) world.crash = { name, calls };
        await world.pass(minutes(60));
        if (calls !== undefined) world.crash = { name, calls };
        world.burst();
        await world.pass(minutes(60));
        return world.learned?.buckets;
      };
      const undisturbed = await learnedWith();
      expect(undisturbed).toHaveLength(1);
      expect(undisturbed?.[0]?.gaps).not.toEqual([]);
      for (let calls = 0; calls < 30; calls++)
        expect(await learnedWith(calls), `${calls}`).toEqual(undisturbed);
    },
  );
});
