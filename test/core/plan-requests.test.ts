import { describe, expect, it } from "vitest";
import { hours } from "../../lambda/core/duration.ts";
import type { Request, ScopeRecord } from "../../lambda/core/record.ts";
import { mostRequests, withoutRequest, withRequest } from "../../lambda/core/requests.ts";
import { aHeldRecord, aQuiet, aRecord, aRequest, someRules } from "../support/builders.ts";
import { at, launchAt, Passes, planAt } from "./plans.ts";

const batch = "nodepool/batch" as const;
const byPool = someRules({ scope: "nodepool" });
const window = (from: number, to: number) =>
  aRequest({
    name: `window-${from}`,
    cause: "window",
    reason: `window from ${from}`,
    at: at(from),
    until: at(to),
  });

describe("a request", () => {
  it("holds to its own end, which neither a launch nor the cap changes", () => {
    const passes = new Passes({ maxHold: hours(1) }, aRecord({ requests: [aRequest({ until: at(300) })] }));
    expect(passes.at(0)).toMatchObject({ until: at(300), isRequested: true, because: "load test" });
    for (const minute of [1, 15, 30, 45, 55]) passes.at(minute, [launchAt(minute)]);
    expect(passes.at(61)).toMatchObject({ until: at(300), record: { quiet: { kind: "breather" } } });
    expect(passes.at(299).until).toEqual(at(300));
    expect(passes.at(300)).toMatchObject({ because: "the hold expired", dueAt: at(300) });
  });

  it("that is shorter than the launch hold takes nothing from it, and counts no longer once it is over", () => {
    const passes = new Passes({}, aHeldRecord({ requests: [aRequest({ until: at(1) })] }));
    expect(passes.at(0)).toMatchObject({ until: at(20), isRequested: true });
    expect(passes.at(2)).toMatchObject({ until: at(20), isRequested: false, record: { requests: [] } });
    expect(passes.at(15, [launchAt(15)]).until).toEqual(at(35));
  });

  it("begins where another ends: the second of two windows is held whole, though no pass ended the first", () => {
    const passes = new Passes({}, aRecord({ requests: [window(0, 120)] }));
    passes.at(0);
    passes.record = { ...passes.record, requests: [...passes.record.requests, window(120, 240)] };
    expect(passes.at(120.3)).toMatchObject({ until: at(240), because: "window from 0" });
    expect(passes.record.figures.requests).toEqual(["window from 0", "window from 120"]);
    expect(passes.at(240).because).toBe("the hold expired");
    expect(passes.record).not.toHaveProperty("quiet");
  });

  it("is held in a breather, which stops launches alone; after it launches hold again", () => {
    const record = aRecord({ quiet: aQuiet("breather"), requests: [aRequest({ until: at(12) })] });
    const passes = new Passes({}, record);
    expect(passes.at(5, [launchAt(4)])).toMatchObject({ until: at(12), counted: [] });
    expect(passes.record).not.toHaveProperty("launchHold");
    expect(passes.at(11, [launchAt(11)]).until).toEqual(at(31));
  });

  it("that is released ends; what else holds, holds on", () => {
    const requests = [aRequest(), aRequest({ name: "other", until: at(40) })];
    const passes = new Passes({}, aRecord({ requests }));
    passes.at(0);
    const release = (name: string, minute: number) => {
      passes.record = {
        ...passes.record,
        requests: withoutRequest(passes.record.requests, name, at(minute)),
      };
      return passes.at(minute);
    };
    expect(release("load-test", 5).until).toEqual(at(40));
    expect(release("other", 6)).toMatchObject({
      because: "released by hand: load-test, other",
      dueAt: at(6),
    });
  });

  it("that was released is no reason for an end that comes later, by launches or another request", () => {
    const requests = [aRequest({ releasedAt: at(10) }), aRequest({ name: "other", until: at(30) })];
    const because = (about: Partial<ScopeRecord>, minute: number) =>
      planAt(minute, { record: aHeldRecord(about) }).because;
    expect(because({ requests: requests.slice(0, 1) }, 20)).toBe("the hold expired");
    expect(because({ requests }, 30)).toBe("the hold expired");
    expect(because({ requests: [aRequest({ releasedAt: at(21) })] }, 22)).toBe("released by hand: load-test");
  });

  it("that was released before its scope ended makes the end no later than it was due", () => {
    const record = aHeldRecord({ requests: [aRequest({ until: at(90), releasedAt: at(10) })] });
    expect(planAt(25, { record }).dueAt).toEqual(at(20));
  });
});

describe("the requests of a scope", () => {
  const ask = (before: readonly Request[], about: Partial<Request>, minute = 10) =>
    withRequest(before, aRequest(about), at(minute));
  const event = { cause: "event", name: "deploys" } as const;
  const byHand = { cause: "person", at: at(5), until: at(30) } as const;
  it.each<[string, readonly Request[], Partial<Request>, string, Date | undefined]>([
    ["starts what is new", [], {}, "start", at(60)],
    ["makes the one of the same name longer", [aRequest()], { until: at(90) }, "extend", at(90)],
    ["makes it shorter where a person asks", [aRequest()], { until: at(30) }, "shorten", at(30)],
    ["never makes it shorter for an event", [aRequest(event)], { ...event, until: at(30) }, "keep", at(60)],
    ["changes nothing by a duplicate", [aRequest(event)], event, "keep", at(60)],
    ["leaves it to a person", [aRequest({ ...event, ...byHand })], event, "leave", at(30)],
    ["starts nothing whose time is over", [], { ...event, until: at(10) }, "leave", undefined],
    [
      "starts nothing again that was released since",
      [aRequest({ ...event, releasedAt: at(5) })],
      event,
      "leave",
      at(60),
    ],
    [
      "starts again what is asked for after the release",
      [aRequest({ ...event, releasedAt: at(5) })],
      { ...event, at: at(6) },
      "start",
      at(60),
    ],
  ])("%s", (_, before, about, action, until) => {
    const granted = ask(before, about);
    expect([granted.action, granted.requests[0]?.until]).toEqual([action, until]);
    expect(granted.requests).toHaveLength(until ? 1 : 0);
  });

  it("are so few that a record has room for them; the names that are there can still be changed", () => {
    const many = Array.from({ length: mostRequests }, (_, n) => aRequest({ name: `event-${n}` }));
    expect(ask(many, { name: "one-more" })).toMatchObject({ action: "refuse", requests: many });
    expect(ask(many, { name: "event-0", until: at(90) }).action).toBe("extend");
  });

  it("that are released make room: the one that was released first is forgotten", () => {
    const many = Array.from({ length: mostRequests }, (_, n) => aRequest({ name: `event-${n}` }));
    const released = withoutRequest(withoutRequest(many, "event-7", at(2)), "event-3", at(1));
    const { action, requests } = ask(released, { name: "one-more" });
    expect([action, requests.length]).toEqual(["start", mostRequests]);
    const names = requests.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["one-more", "event-7", "event-0"]));
    expect(names).not.toContain("event-3");
  });
});

describe("a pause", () => {
  const paused = (minute: number, about = {}) => ({
    quiet: aQuiet("paused", { since: at(minute), ...about }),
  });

  it("holds nothing, ends the hold that is on, and says so", () => {
    const record = aHeldRecord({ ...paused(5), requests: [aRequest()] });
    const plan = planAt(5, { record });
    expect(plan).toMatchObject({ because: "paused by hand: upgrade", dueAt: at(5) });
    expect(plan.until).toBeUndefined();
  });

  it("ends launches for good, those before and in it, and no request", () => {
    const passes = new Passes({}, aHeldRecord(paused(5, { until: at(8) })));
    for (const minute of [5, 7, 8, 9])
      expect(passes.at(minute, [launchAt(4), launchAt(6)]).until).toBeUndefined();
    expect(passes.at(9, [launchAt(8)]).until).toEqual(at(28));
    const asked = new Passes({}, aHeldRecord({ ...paused(5, { until: at(8) }), requests: [aRequest()] }));
    expect([5, 8].map((minute) => asked.at(minute, [launchAt(4)]).until)).toEqual([undefined, at(60)]);
  });

  it("is why a hold ended, also where a look comes after it; but not where that hold was over before", () => {
    const launchHold = { startedAt: at(6), lastLaunchAt: at(6) };
    const becauseOf = (since: number, until: number) =>
      planAt(until + 1, {
        record: aHeldRecord({ launchHold, quiet: aQuiet("paused", { since: at(since), until: at(until) }) }),
      }).because;
    expect(becauseOf(5, 8)).toMatch(/^paused by hand until .+12:08/);
    expect(becauseOf(27, 30)).toBe("the hold expired");
  });

  it("in a breather lasts for as long as it was asked for, and no longer", () => {
    const passes = new Passes({}, aRecord(paused(2, { until: at(4) })));
    expect(passes.at(5, [launchAt(5)]).until).toEqual(at(25));
  });

  it.each([
    ["the cluster's, where it is the longer one", 30, 5],
    ["the NodePool's own, which a shorter one of the cluster does not shorten", 5, 30],
  ])("of a NodePool is %s", (_, whole, own) => {
    const pausedUntil = (until: number, scope?: ScopeRecord["scope"]) =>
      aRecord({ ...paused(0, { until: at(until) }), ...(scope && { scope }) });
    const facts = { record: pausedUntil(own, batch), whole: pausedUntil(whole), rules: byPool };
    expect(planAt(29, { ...facts, launches: [launchAt(29)] }).because).toMatch(
      /^paused by hand until .+12:30/,
    );
    expect(planAt(31, { ...facts, launches: [launchAt(30)] }).until).toEqual(at(50));
  });

  it("comes before a breather, however long that lasts", () => {
    const record = aRecord({ scope: batch, quiet: aQuiet("breather", { until: at(60) }) });
    const whole = aRecord({ quiet: aQuiet("paused") });
    for (const facts of [
      { record, whole },
      { record: { ...whole, scope: batch }, whole: { ...record, scope: "cluster" as const } },
    ])
      expect(planAt(5, { ...facts, rules: byPool }).because).toMatch(/^paused by hand/);
  });
});

describe("a forced release", () => {
  const released = { at: at(5), because: "upgrade", by: "request-1" };

  it("ends everything from before, also in every NodePool where it is the cluster's", () => {
    const held = { launchHold: { startedAt: at(0), lastLaunchAt: at(4) }, requests: [aRequest()] };
    const own = planAt(6, { record: aHeldRecord({ ...held, released }), launches: [launchAt(4)] });
    const record = aHeldRecord({ ...held, scope: batch });
    const pools = planAt(6, { record, whole: aRecord({ released }), rules: byPool, launches: [launchAt(4)] });
    for (const plan of [own, pools]) {
      expect([plan.until, plan.because]).toEqual([undefined, "released by hand: upgrade"]);
      expect(plan.record.requests).toMatchObject([{ releasedAt: at(5) }]);
    }
  });

  it("of long ago is no reason for an end of today", () => {
    const record = aHeldRecord({
      released: { at: at(-10), because: "upgrade" },
      requests: [aRequest({ until: at(15) })],
    });
    expect(planAt(20, { record }).because).toBe("the hold expired");
  });

  it("gives the reason of the later one, where the NodePool and the cluster have one each", () => {
    const record = aHeldRecord({ scope: batch, released: { at: at(1), because: "mine" } });
    const facts = { record, whole: aRecord({ released: { at: at(2), because: "ours" } }), rules: byPool };
    expect(planAt(6, facts).because).toBe("released by hand: ours");
  });

  it("spares what began at that moment or after it", () => {
    for (const minute of [5, 6]) {
      const launchHold = { startedAt: at(minute), lastLaunchAt: at(minute) };
      expect(planAt(7, { record: aHeldRecord({ launchHold, released }) }).until).toEqual(at(minute + 20));
    }
    const requests = [aRequest({ at: at(5), until: at(40) })];
    expect(planAt(7, { record: aRecord({ requests, released }) }).until).toEqual(at(40));
  });
});

it("a hold of the whole cluster is not kept where holds are by NodePool, whatever is asked for", () => {
  const plan = planAt(0, { record: aRecord({ requests: [aRequest()] }), rules: byPool });
  expect([plan.until, plan.because]).toEqual([undefined, "the settings leave it out"]);
});

it("a breather from when holds were for the whole cluster silences no NodePool", () => {
  const whole = aRecord({ quiet: aQuiet("breather", { until: at(60) }) });
  const facts = { record: aRecord({ scope: batch }), whole, rules: byPool, launches: [launchAt(4)] };
  expect(planAt(5, facts).until).toEqual(at(24));
});

it("a hold ends where the setting nodePools leaves its NodePool out, and says so", () => {
  const rules = { ...byPool, nodePools: { only: [], except: ["batch"] } };
  const plan = planAt(5, { record: aHeldRecord({ scope: batch, requests: [aRequest()] }), rules });
  expect([plan.until, plan.because]).toEqual([undefined, "the setting nodePools leaves it out"]);
});
