import { describe, expect, it } from "vitest";
import { after, hours, minutes } from "../../lambda/core/duration.ts";
import { aHeldRecord, aLaunch, aQuiet, aRecord, someRules } from "../support/builders.ts";
import { at, launchAt, Passes, planAt } from "./plans.ts";

const second = 1 / 60;
const rulesWith = (cap: number, scope: "cluster" | "nodepool" = "cluster") =>
  someRules({ maxHold: minutes(cap), scope });
/** Launches from one minute to another, at equal distances. */
const launches = (from: number, to: number, step: number) =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, n) => launchAt(from + n * step));

/** Passes in which each launch is reported at once. */
function reported(passes: Passes, all: readonly ReturnType<typeof launchAt>[]) {
  return all.map((launch) =>
    passes.at((launch.launchedAt.getTime() - at(0).getTime()) / minutes(1), [launch]),
  );
}

describe("a launch", () => {
  it("holds its scope for as long as the setting hold says, counted from the launch", () => {
    const plan = planAt(1, { launches: [launchAt(0)] });
    expect(plan).toMatchObject({ until: at(20), isRequested: false, steps: ["start"] });
    expect(plan.record).toMatchObject({
      hold: { startedAt: at(1), because: "a node was launched in NodePool default" },
      launchHold: { startedAt: at(1), lastLaunchAt: at(0) },
    });
  });

  it("extends the hold that is on", () => {
    const passes = new Passes();
    const { record } = passes.at(0, [launchAt(0)]);
    const plan = passes.at(15, [launchAt(15)]);
    expect(plan).toMatchObject({ until: at(35), steps: ["extend"] });
    expect(plan.record.hold).toEqual(record.hold);
  });

  it("that is reported late changes no end where a younger one is known", () => {
    const passes = new Passes();
    passes.at(15, [launchAt(15)]);
    expect(passes.at(16, [launchAt(3)])).toMatchObject({ until: at(35), steps: [] });
  });

  it("a moment after the hold was over is held for its length, though no pass has ended the hold", () => {
    const passes = new Passes();
    const { record } = passes.at(0, [launchAt(0)]);
    const late = 20 + 20 * second;
    const plan = passes.at(late, [launchAt(late)]);
    expect(plan.until).toEqual(at(late + 20));
    expect(plan.record.hold).toEqual(record.hold);
  });

  it.each([
    ["is older than hold", 0, {}, "no launch and no request counts"],
    [
      "came in a breather",
      18,
      { quiet: aQuiet("breather", { until: at(25) }) },
      /^breather until .+: launches/,
    ],
    ["came in a breather that is over", 18, { quiet: aQuiet("breather", { until: at(19) }) }, /^no launch/],
    ["came in a pause that is over", 18, { quiet: aQuiet("paused", { until: at(19) }) }, /^no launch/],
    ["came before a forced release", 18, { released: { at: at(19), because: "upgrade" } }, /^no launch/],
  ])("that %s holds nothing", (_, minute, about, because) => {
    const plan = planAt(20, { record: aRecord(about), launches: [launchAt(minute)] });
    expect([plan.until, plan.record.hold, plan.counted]).toEqual([undefined, undefined, []]);
    expect(plan.because).toMatch(because);
  });

  it("counts again from the end of a pause or breather, and from the moment of a release", () => {
    for (const about of [
      { quiet: aQuiet("breather", { until: at(19) }) },
      { quiet: aQuiet("paused", { until: at(19) }) },
      { released: { at: at(19), because: "upgrade" } },
    ])
      expect(planAt(20, { record: aRecord(about), launches: [launchAt(19)] }).until).toEqual(at(39));
  });

  describe("in the second in which a pause, a breather or a release ends, as far as its time says", () => {
    const end = after(at(10), 400);
    const soon = 10 + second;
    const facts = { launches: [launchAt(10)] };
    const ends = {
      breather: { quiet: aQuiet("breather", { until: end }) },
      pause: { quiet: aQuiet("paused", { until: end }) },
      release: { released: { at: end, because: "upgrade" } },
    };

    it.each(Object.entries(ends))("counts from there: %s", (_, about) => {
      const passes = new Passes({}, aRecord(about));
      expect(passes.at(soon, facts.launches).until).toEqual(after(end, minutes(20)));
      // A later pass sees the same launch.
      expect(passes.at(15, facts.launches).until).toEqual(after(end, minutes(20)));
    });

    it.each(Object.entries(ends))("counts again where another function ended its hold: %s", (_, about) => {
      const { seen } = planAt(soon, { ...facts, record: aRecord(about) }).record;
      const record = aRecord({ ...about, seen });
      expect(planAt(11, { ...facts, record }).until).toEqual(after(end, minutes(20)));
    });

    it.each(Object.entries(ends))("holds nothing where it was known before: %s", (_, about) => {
      const held = planAt(10, facts).record;
      const passes = new Passes({}, { ...held, ...about });
      for (const minute of [soon, 12, 26, 29.9])
        expect(passes.at(minute, facts.launches).until).toBeUndefined();
    });

    it("holds nothing where the cluster shows it to the pass that releases", () => {
      const passes = new Passes({}, aRecord(ends.release));
      expect(passes.at(10, facts.launches, { now: end }).until).toBeUndefined();
      expect(passes.at(soon, facts.launches).until).toBeUndefined();
    });

    it("does not count from there once nobody remembers whether it was known before", () => {
      const record = aRecord(ends.release);
      expect(planAt(27, { record, ...facts }).until).toBeUndefined();
    });
  });

  it("from the future counts from now: no clock can make a hold longer", () => {
    expect(planAt(0, { launches: [launchAt(60)] }).until).toEqual(at(20));
  });

  it("names the NodePools of the launches that count, and of no others", () => {
    const old = aLaunch({ instance: "i-old", launchedAt: at(-60), nodePool: "web" });
    const because = (...more: ReturnType<typeof aLaunch>[]) =>
      planAt(0, { launches: [old, launchAt(0), ...more] }).because;
    expect(because()).toBe("a node was launched in NodePool default");
    expect(because(aLaunch({ instance: "i-2", nodePool: "batch" }))).toBe(
      "nodes were launched in NodePools batch, default",
    );
  });
});

describe("the end of a launch hold", () => {
  it("is not late where the settings make it shorter: until then it was to be looked at later", () => {
    const passes = new Passes({ hold: minutes(240), maxHold: minutes(720) });
    passes.at(0, [launchAt(0)]);
    const facts = { record: passes.record, rules: someRules({ hold: minutes(20) }) };
    expect([120, 245].map((minute) => planAt(minute, facts).dueAt)).toEqual([at(120), at(240)]);
  });

  it("is a hold length after the last launch; then the next launch starts another hold", () => {
    const passes = new Passes();
    passes.at(0, [launchAt(0)]);
    const over = passes.at(20);
    const because = "the hold expired";
    expect([over.because, over.dueAt, over.record.hold?.ended?.at]).toEqual([because, at(20), at(20)]);
    expect([over.until, over.record.launchHold]).toEqual([undefined, undefined]);
    const next = passes.at(21, [launchAt(21)]);
    expect(next).toMatchObject({ until: at(41), steps: ["start"], past: { endedBecause: because } });
    expect(next.record.hold?.id.localeCompare(over.record.hold?.id ?? "")).toBe(1);
  });

  it("does not come before its time: a one-shot that fires early finds it held", () => {
    expect(planAt(20 - second, { record: aHeldRecord() }).until).toEqual(at(20));
  });

  it("comes at maxHold after the start where launches ask for more, and a breather follows", () => {
    const passes = new Passes({ maxHold: hours(1), breather: minutes(7) });
    const plans = reported(passes, launches(0, 55, 5));
    expect(plans.map(({ until }) => until)).toEqual([
      ...launches(20, 55, 5).map(({ launchedAt }) => launchedAt),
      ...Array(4).fill(at(60)),
    ]);
    expect(plans.flatMap(({ steps }) => steps.filter((step) => step === "cap"))).toEqual(["cap"]);
    const over = passes.at(60);
    expect(over.because).toBe("launches have held for as long as maxHold allows");
    expect(over.record.quiet).toMatchObject({ kind: "breather", since: at(60), until: at(67) });
    expect(passes.at(65, [launchAt(65)]).until).toBeUndefined();
    expect(passes.at(68, [launchAt(66)]).until).toBeUndefined();
    expect(passes.at(68, [launchAt(68)]).until).toEqual(at(88));
  });

  it("is followed by no breather where the cap cut nothing off", () => {
    const passes = new Passes({ maxHold: hours(1) });
    reported(passes, launches(0, 40, 10));
    expect(passes.at(60).because).toBe("the hold expired");
    expect([passes.record.figures.capped, passes.record.quiet]).toEqual([false, undefined]);
    expect(passes.at(61, [launchAt(61)]).until).toEqual(at(81));
  });

  it("never comes by the cap with maxHold 0s", () => {
    const passes = new Passes({ maxHold: 0 });
    expect(reported(passes, launches(0, 600, 10)).at(-1)).toMatchObject({ until: at(620) });
    expect(passes.record.figures.capped).toBe(false);
  });

  it("by the cap counts from when nodes were first held without a break, also where each hold was over a moment before", () => {
    const passes = new Passes({ maxHold: hours(1) });
    const plans = reported(passes, launches(0, 60 + second, 20 + second));
    expect(plans.map(({ until }) => until)).toContainEqual(at(60));
    expect(passes.at(60).because).toBe("launches have held for as long as maxHold allows");
  });

  it.each([
    ["over", 0],
    ["capped", 55],
  ])("that was %s hours ago, and that no pass has ended, caps no hold of a later launch", (_, last) => {
    const passes = new Passes({ maxHold: hours(1) });
    reported(passes, launches(0, last, 5));
    expect(planAt(300, { record: passes.record, rules: rulesWith(60) }).record.quiet).toBeUndefined();
    expect(passes.at(300, [launchAt(300)])).toMatchObject({ until: at(320) });
    expect(passes.record).toMatchObject({ launchHold: { startedAt: at(300) } });
  });

  it("by a cap that was raised meanwhile is the new one, and by one that was lowered comes at once", () => {
    const record = aHeldRecord({ launchHold: { startedAt: at(0), lastLaunchAt: at(55) } });
    const under = (cap: number) => planAt(61, { record, rules: rulesWith(cap), launches: [launchAt(55)] });
    expect(under(60).because).toBe("launches have held for as long as maxHold allows");
    expect(under(120).until).toEqual(at(75));
    expect(under(30).until).toBeUndefined();
  });

  it("comes at once where the setting scope keeps no hold of this scope any more", () => {
    const { because, record } = planAt(5, { record: aHeldRecord(), rules: rulesWith(120, "nodepool") });
    expect(because).toBe("the setting scope has changed");
    expect([record.hold?.ended?.at, record.launchHold]).toEqual([at(5), undefined]);
  });
});

describe("the initial delay", () => {
  const rules = { initialDelay: minutes(5) };

  it("passes before a launch counts, and then it holds to the same end", () => {
    const passes = new Passes(rules);
    const early = passes.at(4, [launchAt(0)]);
    expect([early.until, early.news, early.record.seen]).toEqual([undefined, [], {}]);
    expect(passes.at(5, [launchAt(0)])).toMatchObject({ until: at(20), steps: ["start"] });
    expect(passes.record.figures.launches).toEqual({ default: 1 });
  });

  it("makes no launch too old to be counted, once", () => {
    const passes = new Passes({ initialDelay: minutes(15) });
    const plans = [15.1, 16, 29].map((minute) => passes.at(minute, [launchAt(0)]));
    expect(plans.map(({ counted, ignored }) => [counted.length, ignored.length])).toEqual([
      [1, 0],
      [0, 0],
      [0, 0],
    ]);
  });

  it("that ends first is looked at first, by a look of its own; those that are over need no look", () => {
    const passes = new Passes(rules, aHeldRecord({ looks: { oneShot: at(20) } }));
    const all = [launchAt(11), launchAt(10), launchAt(12), launchAt(1)];
    expect(passes.at(12, all).oneShot).toEqual(at(15));
    expect(passes.at(15, [launchAt(10)]).until).toEqual(at(30));
  });
});
