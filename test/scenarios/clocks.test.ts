import { expect, it } from "vitest";
import { after, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { timedIds } from "../../simulator/hold-ids.ts";
import { Scenario } from "../../simulator/scenario.ts";
import { aRecord } from "../support/builders.ts";

function twoNodes(): Scenario {
  const world = new Scenario({}, timedIds());
  for (const name of ["a", "b"]) world.addNode(name);
  return world;
}

const startsIn = ({ time }: Scenario, ahead: number): RegExp =>
  new RegExp(`^${after(time, ahead).toISOString().slice(0, 16).replaceAll(/[-:]/g, "").toLowerCase()}`);

it("functions whose clocks differ by more than a minute leave each other's marks", async () => {
  const world = twoNodes();
  world.launch({ joinsAfter: seconds(1) });
  const ahead = startsIn(world, minutes(1));
  await world.run(world.deliver(world.queue.due(), minutes(1)));
  await world.pass(seconds(10));
  const { a: first = "" } = world.marks();
  for (const skew of [0, minutes(1), -minutes(1)]) await world.run(world.sweep(skew));
  expect(first).toMatch(ahead);
  expect(world.marks()).toEqual({ a: first, b: first, "node-1": first });

  // The next hold begins by the slow clock, a moment after the fast one has ended the first.
  await world.control({ do: "release", reason: "the next hold" });
  await world.pass(seconds(70));
  await world.run(world.sweep(minutes(1)));
  expect(world.hold()).toBeUndefined();
  world.launch({ joinsAfter: null });
  await world.run(world.deliver(world.queue.due(), -seconds(30)));
  const { a: second = "" } = world.marks();
  expect(second > first).toBe(true);
  for (const skew of [minutes(1), 0, -seconds(30)]) await world.run(world.sweep(skew));
  expect(world.marks()).toEqual({ a: second, b: second, "node-1": second });

  await world.pass(minutes(30));
  expect([world.marks(), world.hold()]).toEqual([{}, undefined]);
});

it("times that a clock has written that was years ahead hold no node for ever", async () => {
  const world = twoNodes();
  world.launch({ joinsAfter: seconds(1) });
  await world.pass(minutes(1));
  const record = world.holds.records.get("cluster");
  const hold = world.hold();
  if (!record || !hold) throw new Error("nothing is held");
  const far = after(world.time, hours(20_000));
  const launchHold = { startedAt: far, lastLaunchAt: far };
  await world.holds.put({ ...record, launchHold, hold: { ...hold, startedAt: far } });

  await world.pass(minutes(25));
  expect(Object.keys(world.marks())).toEqual(["a", "b", "node-1"]);
  await world.pass(minutes(10));
  expect([world.marks(), world.hold()]).toEqual([{}, undefined]);
});

it.each([
  ["a release", (far: Date) => ({ released: { at: far, because: "now" } })],
  [
    "a breather",
    (far: Date) => ({
      quiet: { kind: "breather", since: far, until: after(far, minutes(10)), because: "cap" } as const,
    }),
  ],
])(
  "%s that a clock has written that was years ahead silences no launch, and can be repeated",
  async (_, silenced) => {
    const world = twoNodes();
    await world.holds.put(aRecord(silenced(after(world.time, hours(20_000)))));
    world.launch({ joinsAfter: seconds(1) });
    await world.pass(minutes(1));
    expect(Object.keys(world.marks())).toEqual(["a", "b", "node-1"]);
    await world.control({ do: "release", reason: "now" });
    expect([world.marks(), world.holds.records.get("cluster")?.released?.at]).toEqual([{}, world.time]);
  },
);
