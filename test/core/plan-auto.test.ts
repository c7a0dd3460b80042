import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { after, hours, minutes, seconds } from "../../lambda/core/duration.ts";
import { getStatus } from "../../lambda/core/operate/status.ts";
import { noPauses } from "../../lambda/core/pauses.ts";
import type { Account } from "../../lambda/core/pays.ts";
import type { CallContext } from "../../lambda/core/ports.ts";
import { reconcile } from "../../lambda/core/reconcile.ts";
import { withoutHold } from "../../lambda/core/record.ts";
import { untilOf } from "../../lambda/core/requests.ts";
import { sweep } from "../../lambda/core/sweep.ts";
import { accountOf } from "../../lambda/core/view.ts";
import { aClaim, aHeldRecord, aHold, aRecord, someRules } from "../support/builders.ts";
import { coreWorld } from "../support/core-world.ts";
import { at, launchAt, nodesNamed, Passes, planAt } from "./plans.ts";

const rules = someRules({ auto: true });
const learned = [minutes(12), -minutes(3)];
const account: Account = {
  at: at(9),
  nodes: 2,
  pauses: { open: [{ since: at(4), level: 0 }], gone: 1, learned },
  wasted: { a: seconds(30) },
  letGo: { b: at(8) },
  leftAlone: { c: at(60) },
};
const learnedAlone: Account = {
  ...{ at: at(9), nodes: 0, wasted: {}, letGo: {}, leftAlone: {} },
  pauses: { ...noPauses, learned },
};
const launchHold = { startedAt: at(0), lastLaunchAt: at(0) };
const record = aHeldRecord({ launchHold, account });
const noJobs = nodesNamed(["a"], { nextReadAt: at(11), withJobs: new Set() });

describe("what was learned of pauses", () => {
  it("stays when the hold ends, and nothing else of the account does", () => {
    const ended = planAt(121, { record, rules, nodes: noJobs }).record;
    expect(ended).toMatchObject({ hold: { ended: { at: at(121) } }, account: learnedAlone });
    expect(withoutHold(record).account).toEqual(learnedAlone);
    expect(withoutHold(ended).account).toEqual(learnedAlone);
  });

  it("is there for the next hold, and changes nothing of a record without one", () => {
    const passes = new Passes({ auto: true }, aRecord({ account: learnedAlone }));
    expect(passes.at(200)).toMatchObject({ isChanged: false, record: { account: learnedAlone } });
    expect(passes.at(300, [launchAt(300)]).record).toMatchObject({ hold: {}, account: learnedAlone });
  });

  it("stays where pods cannot be read for a while", () => {
    expect(planAt(10, { record, rules: someRules() }).record.account).toEqual(learnedAlone);
  });
});

describe("a hold without the rights of hold=auto", () => {
  const limited = { rules: someRules(), nodes: nodesNamed(["a"]), isLimited: true };
  const ofLaunch = planAt(0, { ...limited, launches: [launchAt(0)] }).record;

  it("ends like a constant hold for all who read its record", () => {
    expect(untilOf(ofLaunch, rules)).toEqual(at(20));
    expect(planAt(10, { ...limited, record: ofLaunch }).record.launchHold).toEqual(ofLaunch.launchHold);
    expect(planAt(20, { ...limited, record: ofLaunch }).record.hold?.ended).toBeDefined();
  });

  it("stays so where the cluster cannot be read, and until the rights are there", () => {
    expect(planAt(19, { rules, record: ofLaunch }).until).toEqual(at(20));
    const granted = planAt(10, { rules, nodes: nodesNamed(["a"]), isLimited: false, record: ofLaunch });
    expect(granted.until).toEqual(at(120));
    expect(untilOf(granted.record, rules)).toEqual(at(120));
  });
});

it("a hold that has lasted for hours when a constant hold is set is capped as if it began then", () => {
  const lasting = { startedAt: at(0), lastLaunchAt: at(290) };
  const before = aHeldRecord({ launchHold: lasting, account: { ...account, at: at(291) } });
  const passes = new Passes({ hold: minutes(20), maxHold: minutes(60) }, before);
  expect(passes.at(292)).toMatchObject({ until: at(310) });
  for (const minute of [300, 315, 330, 345]) passes.at(minute, [launchAt(minute)]);
  expect(passes.at(346)).toMatchObject({ until: at(352) });
  expect(passes.at(352).record.quiet).toMatchObject({ kind: "breather" });
});

it("a right that is lost meanwhile ends no hold, however long it has lasted, and the next launch holds like a constant one", async () => {
  const { world, context, record: stored } = coreWorld({ rules: { auto: true } });
  world.nodes.add("a");
  world.cluster.pods.add({ name: "job", node: "a", owner: { apiVersion: "batch/v1", kind: "Job" } });
  for (const minute of [0, 90, 180]) {
    world.time = at(minute);
    world.ec2.launch({ eventAfter: null, joinsAfter: null });
    await sweep(context());
  }
  world.cluster.pods.isRefused = true;
  world.time = at(240);
  await sweep(context());
  expect([world.nodes.held(), stored()?.launchHold?.isConstant]).toEqual([["a"], undefined]);
  expect(await getStatus(context())).toMatchObject({ scopes: [{ state: "held", launches: 3 }] });
  world.ec2.launch({ eventAfter: null, joinsAfter: null });
  await sweep(context());
  expect([world.nodes.held(), stored()?.launchHold?.isConstant]).toEqual([["a"], true]);
  world.time = at(261);
  await sweep(context());
  expect([world.nodes.held(), stored()?.quiet]).toEqual([[], undefined]);
});

it("the event of a launch that a NodeClaim has shown is no next launch, though it is of a later second", async () => {
  const { world, context, record: stored } = coreWorld({ rules: { auto: true } });
  world.nodes.add("a");
  const launch = world.ec2.launch({ eventAfter: null, joinsAfter: null });
  await sweep(context());
  world.cluster.pods.isRefused = true;
  world.time = at(5);
  await reconcile(context(), "cluster", { launches: [{ ...launch, nodePool: "default" }] });
  expect(stored()?.launchHold).toEqual({ startedAt: at(0), lastLaunchAt: at(0) });
});

it.each([45, 300])(
  "pods that are never read hold nothing for ever, with a launch every %i minutes",
  async (every) => {
    const { world, context } = coreWorld({ rules: { auto: true } });
    world.nodes.add("a");
    const pods = { list: () => Promise.reject(new Error("too slow")), limits: async () => [] };
    const freeAt: number[] = [];
    for (let minute = 0; minute <= 30 * 60; minute += 15) {
      world.time = at(minute);
      if (minute % every === 0) world.ec2.launch({ eventAfter: null, joinsAfter: null });
      await sweep({ ...context(), pods });
      if (!world.nodes.held().includes("a")) freeAt.push(minute);
    }
    expect(freeAt[0]).toBe(Math.ceil((26 * 60) / every) * every);
  },
);

it("pods that are read now and then are known, however long launches hold", async () => {
  const { world, context, record: stored } = coreWorld({ rules: { auto: true } });
  world.nodes.add("a");
  const pods = { list: () => Promise.reject(new Error("too slow")), limits: async () => [] };
  for (let hour = 0; hour <= 60; hour++) {
    world.time = at(60 * hour);
    world.ec2.launch({ eventAfter: null, joinsAfter: null });
    await sweep(hour % 20 === 0 ? context() : { ...context(), pods });
  }
  expect(stored()?.launchHold?.startedAt).toEqual(at(0));
});

it("pods that take all the time that they get leave enough of it to release nodes", async () => {
  const quiet = { kind: "paused", since: at(0), until: at(60), because: "now" } as const;
  const ended = aHeldRecord({ hold: aHold({ ended: { at: at(0), because: "now" } }), quiet });
  const { world, context } = coreWorld({ rules: { auto: true }, records: [ended] });
  world.nodes.add("a");
  world.nodes.mark("a", ended.hold?.id ?? "");
  const list = async ({ deadline }: CallContext) => {
    await setImmediate();
    world.time = deadline;
    throw new Error("too slow");
  };
  const deadline = after(world.time, minutes(1));
  await sweep({ ...context(), deadline, pods: { list, limits: async () => [] } });
  expect(world.nodes.held()).toEqual([]);
});

describe("at the end of a hold with hold=auto", () => {
  const ended = (minute: number, jobs: readonly string[] | undefined, before = record) =>
    planAt(minute, { record: before, rules, nodes: nodesNamed(["a"], { withJobs: jobs && new Set(jobs) }) });
  const ending = ended(120, ["a"]).record;

  it("nodes with Jobs are held until these are done, for a day at most", () => {
    expect(ended(120, ["a"])).toMatchObject({ until: at(120 + 24 * 60) });
    expect(ending.hold?.ended).toBeUndefined();
    expect(ended(121, [], ending).record.hold?.ended).toBeDefined();
    expect(ended(120 + 24 * 60, ["a"], ending).record.hold?.ended).toBeDefined();
  });

  it("it ends at once where no node runs a Job", () => {
    expect(ended(120, []).record.hold?.ended).toBeDefined();
  });

  it("pods that could not be read end nothing", () => {
    expect(ended(120, undefined).until).toEqual(at(120 + 24 * 60));
    expect(ended(130, undefined, ending).until).toEqual(at(120 + 24 * 60));
  });

  it("a launch holds all nodes again, and counts as no shorter hold", () => {
    const nodes = nodesNamed(["a"], { withJobs: new Set(["a"]) });
    const plan = planAt(130, { record: ending, rules, nodes, launches: [launchAt(130)] });
    expect(plan).toMatchObject({ until: at(250), record: { launchHold: { lastLaunchAt: at(130) } } });
    expect(plan.record.launchHold?.isEnding).toBeUndefined();
  });

  it("that is no extension, and no node is let go any more", () => {
    expect(ended(120, ["a"]).steps).toEqual([]);
    expect(ending.account).toEqual(learnedAlone);
    const view = { at: at(0), nodes: [], claims: [aClaim("a")], pods: [] };
    expect(accountOf(view, ending, rules, at(121))).toEqual({ nextReadAt: at(122) });
  });

  it("it goes on like any other where the settings have a longer constant hold by now", () => {
    const longer = someRules({ hold: hours(3), maxHold: hours(4) });
    const plan = planAt(130, { record: ending, rules: longer, nodes: nodesNamed(["a"]) });
    expect(plan.until).toEqual(at(180));
    expect(plan.record.launchHold?.isEnding).toBeUndefined();
  });

  it("a release by hand ends it whatever runs", () => {
    const released = { ...ending, released: { at: at(125), because: "now" } };
    expect(ended(126, ["a"], released).record.hold?.ended).toBeDefined();
  });
});
