import { expect, it } from "vitest";
import { after, hours, minutes, seconds } from "../../../lambda/core/duration.ts";
import { detailOf, type HoldChange, type HoldEvent, withChange } from "../../../lambda/core/holds/events.ts";
import type { Hold } from "../../../lambda/core/holds/hold.ts";
import { changeRecord } from "../../../lambda/core/holds/records.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { Scenario } from "../../../simulator/scenario.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aPastHold, aRecord, someRules } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

const at = (minute: number) => after(noon, minutes(minute));
const change = (before?: Hold, now?: Hold, past?: HoldChange["past"]): HoldChange => ({
  before: aRecord(before && { hold: before }),
  record: aRecord(now && { hold: now }),
  past,
});
const eventsOf = (...changes: readonly HoldChange[]) =>
  changes.reduce(withChange, [] as readonly HoldEvent[]);
const brief = (events: readonly HoldEvent[]) => events.map(({ type, hold }) => `${type} ${hold.id}`);

const first = aHold();
const longer = aHold({ expiresAt: at(30) });
const capped = aHold({ expiresAt: at(120), capped: true });
const second = aHold({ id: holdId(2) });
const releasing = aHold({ state: "releasing" });
it.each<[what: string, changes: readonly HoldChange[], events: readonly string[]]>([
  ["a hold starts", [change(undefined, first)], [`Hold Started ${first.id}`]],
  ["it ends later than before", [change(first, longer)], [`Hold Extended ${first.id}`]],
  ["it ends earlier, as learned", [change(longer, first)], []],
  ["its nodes are counted", [change(first, aHold({ nodes: 3 }))], []],
  ["it reaches its cap", [change(first, capped)], [`Hold Capped ${first.id}`]],
  ["it stays at its cap", [change(capped, aHold({ ...capped, launches: 2 }))], []],
  ["it is fenced", [change(first, releasing)], []],
  ["it is closed", [change(releasing, undefined, aPastHold())], [`Hold Ended ${first.id}`]],
  ["it starts capped", [change(undefined, capped)], [`Hold Started ${first.id}`, `Hold Capped ${first.id}`]],
  [
    "another takes its place",
    [change(releasing, second, aPastHold())],
    [`Hold Ended ${first.id}`, `Hold Started ${second.id}`],
  ],
  [
    "it is extended twice at once",
    [change(first, longer), change(longer, aHold({ expiresAt: at(40) }))],
    [`Hold Extended ${first.id}`],
  ],
])("what is sent when %s", (_, changes, events) => {
  expect(brief(eventsOf(...changes))).toEqual(events);
});

it("an event has the latest state of its hold, so that a start counts the nodes marked at once", () => {
  const [started] = eventsOf(change(undefined, first), change(first, aHold({ nodes: 7 })));
  expect(started && detailOf(started, someRules())).toEqual({
    version: 1,
    cluster: "prod",
    scope: "cluster",
    holdId: first.id,
    startedAt: noon,
    expiresAt: at(20),
    capAt: after(noon, hours(2)),
    startedBecause: "a node was launched in NodePool default",
    causes: ["launch"],
    launches: 1,
    extensions: 0,
    nodes: 7,
  });
});

it("the end adds why, and what the hold cost and spared", () => {
  const causes = { launches: { default: 1 }, uses: 2, usedAt: at(5), hand: "held by hand: test" };
  const past = aPastHold({ causes, idleTime: minutes(90), spared: 2 });
  const [ended] = eventsOf(change(releasing, undefined, past));
  expect(ended && detailOf(ended, someRules({ maxHold: 0 }))).toMatchObject({
    capAt: undefined,
    causes: ["launch", "use", "hand"],
    nodes: 3,
    endedAt: at(20),
    endedBecause: "the hold expired",
    idleNodeMinutes: 90,
    relaunchesSpared: 2,
  });
});

it("a change is sent by the function that wrote it, and by no other", async () => {
  const { context, world } = coreWorld();
  let isFirst = true;
  await changeRecord(context, "cluster", (record) => {
    if (isFirst) void world.holds.put(record);
    isFirst = false;
    return { record: { ...record, hold: first } };
  });
  expect(brief(eventsOf(...world.events.all))).toEqual([`Hold Started ${first.id}`]);
});

it("a whole hold starts, is extended and ends once, though its one-shot is lost and its release crashes", async () => {
  const world = new Scenario();
  world.addNode("a");
  world.launch({ joinsAfter: seconds(30) });
  await world.pass(minutes(10));
  world.launch({ joinsAfter: seconds(30) });
  await world.pass(minutes(15));
  for (const name of world.oneShots.armed.keys()) world.oneShots.armed.delete(name);
  world.time = at(31);
  const sweep = await world.sweep();
  while (world.hold()?.state === "held") await world.step(sweep);
  sweep.crash();
  await world.pass(minutes(10));

  expect(brief(eventsOf(...world.events.all))).toEqual(
    ["Hold Started", "Hold Extended", "Hold Ended"].map((type) => `${type} ${holdId(1)}`),
  );
  expect(world.events.all.filter(({ past }) => past)).toHaveLength(1);
});
