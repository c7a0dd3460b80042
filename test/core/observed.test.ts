import { describe, expect, it } from "vitest";
import { hours, minutes } from "../../lambda/core/duration.ts";
import {
  describeObserved,
  describeRemoved,
  nothingObserved,
  type Observed,
  sumObserved,
} from "../../lambda/core/observed.ts";
import { sweep } from "../../lambda/core/sweep.ts";
import { holdId } from "../../simulator/hold-ids.ts";
import { aHeldRecord, aPastHold, aRequest } from "../support/builders.ts";
import { coreWorld } from "../support/core-world.ts";
import { at, launchAt, nodesNamed, Passes } from "./plans.ts";

const observe = { mode: "observe" } as const;
const withPods = (pods: Readonly<Record<string, number>>) =>
  nodesNamed(Object.keys(pods), { pods: new Map(Object.entries(pods)) });

describe("with mode=observe, nodes that would be held", () => {
  it("are watched, 500 at most: a record must stay small", () => {
    const names = Array.from({ length: 600 }, (_, n) => `node-${n}`);
    const { hold } = new Passes(observe).at(0, [launchAt(0)], { nodes: nodesNamed(names) }).record;
    expect(Object.keys(hold?.watched?.nodes ?? {})).toEqual(names.slice(0, 500));
  });

  it("count as removed when they are gone, each once, until the hold would end", () => {
    const passes = new Passes(observe);
    passes.at(0, [launchAt(0)], { nodes: nodesNamed(["a", "b", "c"]) });
    passes.at(5, [], { nodes: nodesNamed(["a", "b"]) });
    passes.at(6, []);
    passes.at(7, [], { nodes: nodesNamed(["d"]) });
    expect(passes.record.figures.observed).toMatchObject({ removed: 3, uncounted: 3 });
    expect(passes.at(20, [], { nodes: nodesNamed([]) }).record.hold).not.toHaveProperty("watched");
    expect(passes.record.figures.observed).toMatchObject({ removed: 4 });
  });

  it("count the pods of the last look at them: a node that is being emptied is looked at no more", () => {
    const passes = new Passes(observe);
    passes.at(0, [launchAt(0)], { nodes: withPods({ a: 9, b: 4, c: 0 }) });
    passes.at(1, [], { nodes: nodesNamed(["a", "b", "c"], { pods: new Map([["a", 7]]) }) });
    passes.at(2, [], { nodes: nodesNamed([]) });
    expect(passes.record.figures.observed).toMatchObject({ removed: 3, evicted: 11, uncounted: 0 });
  });

  it("would cost their time to the end of a constant hold, also when that moves", () => {
    const passes = new Passes(observe);
    passes.at(0, [launchAt(0)], { nodes: nodesNamed(["a", "b"]) });
    passes.at(5, [], { nodes: nodesNamed(["b"]) });
    expect(passes.record.figures.observed?.nodeTime).toBe(minutes(15));
    passes.record = { ...passes.record, requests: [aRequest({ at: at(6), until: at(40) })] };
    passes.at(6);
    expect(passes.record.figures.observed?.nodeTime).toBe(minutes(35));
    passes.record = {
      ...passes.record,
      quiet: { kind: "paused", since: at(9), until: at(99), because: "x" },
    };
    passes.at(9);
    expect(passes.record.figures.observed?.nodeTime).toBe(minutes(4));
  });

  it("would cost with hold=auto no more than their removal is worth", () => {
    const passes = new Passes({ ...observe, auto: true });
    passes.at(0, [launchAt(0)], { nodes: withPods({ a: 2, b: 0 }) });
    passes.at(1, [], { nodes: nodesNamed([]) });
    expect(passes.record.figures.observed?.nodeTime).toBe(minutes(5 + 2 * 3 + 5));
    passes.at(30);
    expect(passes.record.figures.observed?.nodeTime).toBe(minutes(16));
  });

  it("are not those that hold=auto lets go", () => {
    const passes = new Passes({ ...observe, auto: true });
    const pauses = { open: [], gone: 0, learned: [] };
    const ofNodes = { nodes: 2, pauses, wasted: {}, letGo: { a: at(1) }, leftAlone: {} };
    const account = { at: at(1), ...ofNodes };
    passes.at(0, [launchAt(0)], { nodes: { ...withPods({ a: 2, b: 0 }), account } });
    passes.at(2, [], { nodes: nodesNamed(["b"]) });
    expect(passes.record.figures.observed).toEqual(nothingObserved);
  });

  it("could have spared a launch that follows while a hold would keep them, and then cost no more", () => {
    const passes = new Passes(observe);
    passes.at(0, [launchAt(0)], { nodes: withPods({ a: 2 }) });
    passes.at(5, [], { nodes: nodesNamed([]) });
    passes.at(8, [launchAt(8), launchAt(8.1)], { nodes: nodesNamed([]) });
    expect(passes.record.figures.observed).toMatchObject({ relaunched: 1, nodeTime: minutes(3) });
  });

  it("are none of a holder that holds", () => {
    const passes = new Passes();
    passes.at(0, [launchAt(0)], { nodes: withPods({ a: 2 }) });
    passes.at(5, [], { nodes: nodesNamed([]) });
    expect(passes.record.hold).not.toHaveProperty("watched");
    expect(passes.record.figures).not.toHaveProperty("observed");
  });
});

it("pods are counted where hold=auto reads them, without those of DaemonSets", async () => {
  const { world, context, record } = coreWorld({ rules: { ...observe, auto: true } });
  world.nodes.add("a");
  world.nodeClaims.add({ name: "a", node: "a", createdAt: at(0), openedAt: at(0) });
  const ofDaemonSet = { apiVersion: "apps/v1", kind: "DaemonSet" };
  for (const [name, owner] of Object.entries({ web: undefined, api: undefined, log: ofDaemonSet }))
    world.cluster.pods.add({ name, node: "a", ...(owner && { owner }) });
  world.ec2.launch({ eventAfter: null });
  world.time = at(4);
  await sweep(context());
  expect(record()?.hold?.watched?.nodes.a).toEqual({ pods: 2 });
});

const some: Observed = { removed: 7, evicted: 41, uncounted: 0, nodeTime: hours(1.2), relaunched: 3 };

describe("once a week a sweep", () => {
  const on = aHeldRecord({ figures: { ...aHeldRecord().figures, nodes: 9, observed: some } });
  const past = aPastHold({ id: holdId(0), nodes: 4, observed: { ...some, removed: 1, evicted: 0 } });

  const aWeek = 7 * 24 * 60;
  const aWorld = () => coreWorld({ records: [on], rules: { ...observe, maxHold: 0, hold: hours(9_999) } });
  const setObserved = async ({ world, record }: ReturnType<typeof aWorld>, observed: Observed) => {
    const now = record() ?? on;
    await world.holds.put({ ...now, version: now.version + 1, figures: { ...now.figures, observed } });
  };

  it("logs and sends what was observed since the last time, the first one nothing", async () => {
    const { world, context } = aWorld();
    await world.journal.remember(past);
    await sweep(context());
    world.time = at(60);
    await sweep(context());
    expect(world.events.weeks).toEqual([]);
    world.time = at(aWeek);
    await world.journal.remember({ ...past, id: holdId(9), startedAt: at(-60), endedAt: at(0) });
    await sweep(context());
    await sweep(context());
    expect(world.events.weeks).toMatchObject([{ since: at(0), until: at(aWeek), holds: 2, removed: 1 }]);
    expect(world.log.reported("observed")).toMatchObject([
      {
        ...{ since: at(0), holds: 2, removed: 1 },
        summary: expect.stringMatching(
          /^would have held 9 nodes at once for 168h20m in 2 holds; .* 1 such node /,
        ),
      },
    ]);
  });

  it("says of a hold that goes on only what is new, also when it has ended since", async () => {
    const { world, context, record } = aWorld();
    await sweep(context());
    const more = (removed: number, evicted: number) => ({ ...some, removed, evicted });
    const weeks = [some, more(9, 44), more(9, 44), more(10, 50)];
    for (const [n, observed] of weeks.entries()) {
      world.time = at((n + 1) * aWeek);
      await setObserved({ world, context, record } as never, observed);
      await sweep(context());
    }
    const reported = world.events.weeks.map(({ removed, evicted, lasted }) => [removed, evicted, lasted]);
    const week = minutes(aWeek);
    expect(reported).toEqual([
      [0, 0, week],
      [2, 3, week],
      [0, 0, week],
      [1, 6, week],
    ]);
  });

  it("reports nothing where nothing was observed", async () => {
    const { world, context } = coreWorld({ rules: observe });
    await sweep(context());
    world.time = at(aWeek);
    await sweep(context());
    expect([world.events.weeks, await world.journal.lastReport()]).toMatchObject([[], { at: at(aWeek) }]);
  });

  it("of a holder that holds reports nothing", async () => {
    const { world, context } = coreWorld({ records: [on] });
    await sweep(context());
    world.time = at(8 * 24 * 60);
    await sweep(context());
    expect([world.events.weeks, await world.journal.lastReport()]).toEqual([[], undefined]);
  });
});

describe("what was observed, in words,", () => {
  it("is the sum of all holds", () => {
    const holds = [
      aPastHold({ nodes: 9, observed: some }),
      aPastHold({ endedAt: at(14), nodes: 2, observed: some }),
    ];
    const sum = sumObserved([...holds, aPastHold()]);
    expect(sum && describeObserved(sum)).toBe(
      "would have held 9 nodes at once for 34m in 2 holds; Karpenter removed 14 such nodes and evicted 82 pods. A hold would have cost 2.40 node-hours at most, and would have spared up to 6 launches and 82 evictions",
    );
    expect(sumObserved([aPastHold()])).toBeUndefined();
  });

  it.each([
    [{ removed: 0 }, "Karpenter removed no such node"],
    [
      { removed: 2, uncounted: 2, evicted: 0, relaunched: 0 },
      "Karpenter removed 2 such nodes; the pods of 2 are unknown. A hold would have cost 1.20 node-hours at most",
    ],
    [
      { removed: 2, uncounted: 1, evicted: 1, relaunched: 1 },
      "Karpenter removed 2 such nodes and evicted 1 pod; the pods of 1 are unknown. A hold would have cost 1.20 node-hours at most, and would have spared up to 1 launch and 1 eviction",
    ],
  ])("says what is unknown: %j", (about, text) => {
    expect(describeRemoved({ ...some, ...about })).toBe(text);
  });
});
