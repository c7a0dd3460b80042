import { describe, expect, it } from "vitest";
import { after, hours, minutes, seconds } from "../../../lambda/core/duration.ts";
import type { Hold } from "../../../lambda/core/holds/hold.ts";
import { untilResumed, type Watermark } from "../../../lambda/core/holds/watermark.ts";
import { decideLaunch, type LaunchFacts } from "../../../lambda/core/launches/decide-launch.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aLaunch, aRecord, aSilence, someRules } from "../../support/builders.ts";

const at = (minute: number) => after(noon, minutes(minute));
const everything: Watermark = { from: new Date(0) };
const launchAt = (minute: number, instance = `i-${minute}`) => aLaunch({ instance, launchedAt: at(minute) });

const decide = (facts: Partial<LaunchFacts> = {}) =>
  decideLaunch({
    record: aRecord(),
    watermark: everything,
    launches: [aLaunch()],
    rules: someRules(),
    now: noon,
    newId: "new",
    ...facts,
  });

/** A record whose hold was begun and last extended by a launch at noon. */
const held = (about: Parameters<typeof aHold>[0] = {}) => aRecord({ hold: aHold(about), lastLaunchAt: noon });

describe("the first launch", () => {
  it("starts a hold that lasts from the launch, not from when it was reported", () => {
    const decision = decide({ now: at(3) });

    expect(decision).toMatchObject({
      action: "start",
      hold: { id: "new", state: "held", startedAt: at(3), expiresAt: at(20), causedAt: noon, launches: 1 },
      record: { lastLaunchAt: noon, hold: { id: "new" } },
      because: "a node was launched in NodePool default",
    });
  });

  it("delivered after its hold would have expired starts nothing", () => {
    const decision = decide({ now: at(20) });

    expect(decision).toMatchObject({ action: "ignore", because: "its hold would already be over" });
    expect(decision.record).not.toHaveProperty("hold");
  });

  it("of several, the latest that counts sets the expiry", () => {
    const decision = decide({ launches: [launchAt(-2), launchAt(0), launchAt(-1)] });

    expect(decision).toMatchObject({ action: "start", hold: { expiresAt: at(20), launches: 3 } });
  });

  it("starts a hold that knows its burst, its causes, and that its nodes are not marked yet", () => {
    const { hold } = decide({ launches: [launchAt(0), launchAt(-2), launchAt(-1)] }) as { hold: Hold };

    const causes = { launches: { default: 3 } };
    expect(hold).toMatchObject({ burstFrom: at(-2), causes, unprotected: true });
    expect(hold).not.toHaveProperty("length");
  });

  it("that another function recognised as a replacement meanwhile starts nothing", () => {
    const record = aRecord({ replacements: [{ instance: "b", launchedAt: noon }] });
    const launches = [aLaunch({ instance: "a" }), aLaunch({ instance: "b" })];
    const because = "it was recognised as a replacement before";

    expect(decide({ record, launches: launches.slice(1) })).toEqual({ action: "ignore", because });
    expect(decide({ record, launches })).toMatchObject({ action: "start", hold: { launches: 1 } });
    const rules = someRules({ replacements: "hold" });
    expect(decide({ record, launches, rules })).toMatchObject({ hold: { launches: 2 } });
  });

  it("names the NodePool of the first of two at the same time", () => {
    const launches = ["a", "b"].map((nodePool) => aLaunch({ instance: nodePool, nodePool }));

    expect(decide({ launches }).because).toBe("a node was launched in NodePool a");
  });

  it("has the learned length, and is learned from even when its hold would be over", () => {
    const rules = someRules({ auto: true });

    expect(decide({ rules })).toMatchObject({ hold: { length: { action: "default" } } });
    expect(decide({ rules, now: at(60) })).toMatchObject({
      action: "ignore",
      record: { lastLaunchAt: noon, learned: { idle: [{ since: noon }] } },
    });
    const record = held({ expiresAt: at(10) });
    expect(decide({ rules, record, launches: [launchAt(5)] })).toMatchObject({ hold: { length: {} } });
  });

  it("that was counted before notes the length by which it extends the hold", () => {
    const rules = someRules({ auto: true });

    expect(decide({ rules, record: held({ expiresAt: at(5) }) })).toMatchObject({
      action: "extend",
      hold: { expiresAt: at(10), length: { action: "default" } },
    });
  });
});

describe("a later launch", () => {
  it("extends the running hold and leaves its id", () => {
    const decision = decide({ record: held(), launches: [launchAt(5)], now: at(6) });

    expect(decision).toMatchObject({
      action: "extend",
      hold: {
        id: holdId(1),
        startedAt: noon,
        expiresAt: at(25),
        causedAt: at(5),
        extensions: 1,
        launches: 2,
      },
      record: { lastLaunchAt: at(5) },
      because: "a later launch extends the hold",
    });
    expect(decision.record?.hold).not.toHaveProperty("length");
  });

  it("belongs to the burst that began with the hold's first launch", () => {
    const burstOf = (about: Partial<Hold>) =>
      decide({ record: held(about), launches: [launchAt(7), launchAt(5)], now: at(8) }).record?.hold;

    expect(burstOf({ burstFrom: noon })).toMatchObject({
      burstFrom: noon,
      causes: { launches: { default: 3 } },
    });
    expect(burstOf({})?.burstFrom).toEqual(at(5));
  });

  it("that is known already extends a hold that is shorter than the settings ask now, and is not counted again", () => {
    const record = held({ expiresAt: at(10), burstFrom: noon, joined: true });

    const decision = decide({ record, launches: [launchAt(-1)], now: at(6) });

    expect(decision).toMatchObject({
      action: "extend",
      hold: { expiresAt: at(19), launches: 1, causes: { launches: { default: 1 } }, burstFrom: noon },
      record: { lastLaunchAt: noon },
    });
  });

  it("extends a hold that is due but not yet fenced", () => {
    const decision = decide({ record: held(), launches: [launchAt(20.5)], now: at(20.6) });

    expect(decision).toMatchObject({ action: "extend", hold: { id: holdId(1), expiresAt: at(40.5) } });
  });

  it("does not shorten a hold that lasts longer already, but is remembered", () => {
    const record = held({ expiresAt: at(60) });

    const decision = decide({ record, launches: [launchAt(5)], now: at(6) });

    expect(decision).toMatchObject({
      action: "await",
      hold: { expiresAt: at(60), extensions: 0 },
      because: "the hold already lasts as long",
    });
    expect(decision.record).toMatchObject({ lastLaunchAt: at(5) });
  });

  it("during a release starts a new hold, and the old one goes to history", () => {
    const record = held({ state: "releasing", endsBecause: "the hold expired", nodes: 7 });

    const decision = decide({ record, launches: [launchAt(21)], now: at(21) });

    expect(decision).toMatchObject({
      action: "start",
      hold: { id: "new", expiresAt: at(41) },
      past: { id: holdId(1), endedAt: at(21), endedBecause: "the hold expired", nodes: 7 },
      because: "a node was launched in NodePool default, while the last hold was being released",
    });
  });
});

describe("a launch for a hold none of whose nodes has joined", () => {
  const unjoined = held({ burstFrom: noon });

  it("is counted, and its expiry noted, but does not extend it", () => {
    expect(decide({ record: unjoined, launches: [launchAt(5)], now: at(6) })).toMatchObject({
      action: "await",
      hold: { expiresAt: at(20), askedUntil: at(25), launches: 2, causedAt: at(5), extensions: 0 },
      record: { lastLaunchAt: at(5) },
      because: "none of the hold's nodes has joined yet",
    });
  });

  it("never lowers the expiry that was asked for, and does not reach the cap", () => {
    const record = held({ burstFrom: noon, askedUntil: at(30) });
    const rules = someRules({ maxHold: minutes(22) });
    expect(decide({ record, launches: [launchAt(5)], rules })).toMatchObject({
      action: "await",
      hold: { askedUntil: at(30), capped: false },
    });
  });

  it("that was counted before is noted again where the cap allows more by now", () => {
    const record = held({ burstFrom: noon, expiresAt: at(10) });
    const again = decide({ record });
    expect(again).toMatchObject({
      action: "await",
      hold: { expiresAt: at(10), askedUntil: at(20), launches: 1 },
    });
    expect(decide({ record: again.record ?? aRecord() })).not.toHaveProperty("record");
  });

  it("extends it once one has joined", () => {
    const record = held({ burstFrom: noon, joined: true });
    expect(decide({ record, launches: [launchAt(5)] })).toMatchObject({
      action: "extend",
      hold: { expiresAt: at(25) },
    });
  });
});

describe("a duplicate, a late or a reordered event", () => {
  it.each([
    ["a duplicate", 0],
    ["a late one", -5],
  ])("writes nothing into a running hold: %s", (_, minute) => {
    const decision = decide({ record: held(), launches: [launchAt(minute)], now: at(6) });

    expect(decision).toMatchObject({ action: "await", because: "the hold already lasts as long" });
    expect(decision.record).toBeUndefined();
  });

  it("starts nothing when the hold it belonged to has ended", () => {
    const record = aRecord({ lastLaunchAt: noon });

    const decision = decide({ record, now: at(1) });

    expect(decision).toEqual({
      action: "ignore",
      because: "the hold for this launch has already ended",
    });
  });

  it("together with a new launch is not counted again", () => {
    const decision = decide({ record: held(), launches: [launchAt(0), launchAt(5)], now: at(6) });

    expect(decision).toMatchObject({ action: "extend", hold: { launches: 2 } });
  });
});

describe("the cap", () => {
  const rules = someRules({ maxHold: hours(2) });

  it("ends a hold whatever is launched, and reports that once", () => {
    const record = aRecord({ hold: aHold({ expiresAt: at(115) }), lastLaunchAt: at(95) });

    const decision = decide({ record, rules, launches: [launchAt(110)], now: at(110) });

    expect(decision).toMatchObject({
      action: "cap",
      hold: { expiresAt: at(120), capped: true },
      because: "holds last 2h at most",
    });
  });

  it("moves no further once it is reached", () => {
    const record = aRecord({ hold: aHold({ expiresAt: at(120), capped: true }), lastLaunchAt: at(110) });

    const decision = decide({ record, rules, launches: [launchAt(115)], now: at(115) });

    expect(decision).toMatchObject({
      action: "await",
      hold: { expiresAt: at(120), extensions: 0, launches: 2 },
    });
  });

  it("does not exist when it is turned off", () => {
    const record = aRecord({ hold: aHold({ expiresAt: at(1000) }), lastLaunchAt: at(980) });

    const decision = decide({
      record,
      rules: someRules({ maxHold: 0 }),
      launches: [launchAt(990)],
      now: at(990),
    });

    expect(decision).toMatchObject({ action: "extend", hold: { expiresAt: at(1010), capped: false } });
  });

  it("that was lowered never moves an expiry back", () => {
    const record = aRecord({ hold: aHold({ expiresAt: at(60) }), lastLaunchAt: at(40) });

    const decision = decide({ record, rules: someRules({ maxHold: minutes(30) }), launches: [launchAt(50)] });

    expect(decision).toMatchObject({ hold: { expiresAt: at(60) } });
  });
});

describe("the watermark", () => {
  it("keeps launches before it from starting anything", () => {
    const decision = decide({ watermark: { from: after(noon, 1) }, now: at(1) });

    expect(decision).toEqual({
      action: "ignore",
      because: "it was launched before launches began to count again",
    });
  });

  it("counts launches from it on", () => {
    expect(decide({ watermark: { from: noon } })).toMatchObject({ action: "start" });
  });

  it.each<[string, Watermark, string]>([
    [
      "a breather",
      { from: at(10), quiet: aSilence("breather") },
      "breather until 2026-11-21T12:10:00.000Z (a hold reached its cap)",
    ],
    [
      "a pause",
      { from: at(10), quiet: aSilence("paused") },
      "paused until 2026-11-21T12:10:00.000Z (upgrade)",
    ],
    [
      "a pause without end",
      { from: untilResumed, quiet: aSilence("paused") },
      "paused until resumed (upgrade)",
    ],
  ])("reports why nothing counts in %s", (_, watermark, because) => {
    expect(decide({ watermark })).toEqual({ action: "ignore", because });
  });

  it("keeps older launches out of the count and the time of a hold begun after it", () => {
    const decision = decide({
      watermark: { from: noon },
      launches: [aLaunch({ launchedAt: after(noon, -seconds(1)) }), launchAt(0)],
    });

    expect(decision).toMatchObject({ action: "start", hold: { launches: 1, expiresAt: at(20) } });
  });
});
