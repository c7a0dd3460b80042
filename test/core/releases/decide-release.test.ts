import { describe, expect, it } from "vitest";
import { after, hours, minutes } from "../../../lambda/core/duration.ts";
import { type Hold, type ScopeRecord, untilResumed } from "../../../lambda/core/holds/hold.ts";
import { decideClose, decideForce, decideRelease } from "../../../lambda/core/releases/decide-release.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord, aSilence, someRules } from "../../support/builders.ts";

const at = (minute: number) => after(noon, minutes(minute));
const decide = (record: ScopeRecord, now = at(20), rules = someRules()) =>
  decideRelease({ record, holdId: holdId(1), rules, now });

describe("a one-shot that fires", () => {
  it("fences the hold that expired", () => {
    const decision = decide(aRecord({ hold: aHold() }));

    expect(decision).toMatchObject({
      action: "release",
      because: "the hold expired",
      record: { hold: { id: holdId(1), state: "releasing", endsBecause: "the hold expired" } },
    });
    expect(decision.record?.launchesCountFrom).toBeUndefined();
  });

  it("releases nothing and is created again when the hold was extended", () => {
    const decision = decide(aRecord({ hold: aHold({ expiresAt: at(25) }) }));

    expect(decision).toMatchObject({
      action: "rearm",
      armFor: at(25),
      hold: { expiresAt: at(25) },
      because: "the hold was extended",
    });
    expect(decision.record).toBeUndefined();
  });

  it("is followed by a breather also when a lowered cap ended it", () => {
    const hold = aHold({ expiresAt: at(90) });
    const rules = someRules({ maxHold: minutes(30), breather: minutes(10) });

    const decision = decideRelease({ record: aRecord({ hold }), holdId: hold.id, rules, now: at(31) });

    expect(decision.record).toMatchObject({ quiet: aSilence("breather", at(31)), launchesCountFrom: at(41) });
  });

  it("says nothing of nodes that had no five minutes to join", () => {
    const unjoined = (minute: number) => {
      const record = aRecord({ hold: aHold({ expiresAt: at(2) }), unjoinedSince: noon });
      return decide(record, at(minute)).record?.unjoinedSince;
    };
    expect([unjoined(4.9), unjoined(5)]).toEqual([undefined, noon]);
  });

  it("a little too early is created again for a later time", () => {
    const decision = decide(aRecord({ hold: aHold({ armedFor: at(20) }) }), at(19.9));

    expect(decision).toMatchObject({ action: "rearm", armFor: at(21), because: "the one-shot came early" });
  });

  it.each([
    ["nothing is held", aRecord()],
    ["another hold took its place", aRecord({ hold: aHold({ id: holdId(2) }) })],
    ["another hold took its place", aRecord({ hold: aHold({ id: holdId(2), state: "releasing" }) })],
  ])("changes nothing: %s", (because, record) => {
    expect(decide(record)).toEqual({ action: "leave", because });
  });

  it("continues an unfinished release without a write", () => {
    const decision = decide(aRecord({ hold: aHold({ state: "releasing" }) }), noon);

    expect(decision).toMatchObject({ action: "release", because: "its release was not finished" });
    expect(decision.record).toBeUndefined();
  });

  it("applies a lowered cap at once", () => {
    const record = aRecord({ hold: aHold({ expiresAt: at(60) }) });

    expect(decide(record, at(30), someRules({ maxHold: minutes(30) })).action).toBe("release");
    expect(decide(record, at(30), someRules({ maxHold: hours(2) })).action).toBe("rearm");
  });

  it("begins the breather when the hold was capped", () => {
    const decision = decide(
      aRecord({ hold: aHold({ capped: true }) }),
      at(20),
      someRules({ breather: minutes(10) }),
    );

    expect(decision).toMatchObject({
      action: "release",
      because: "the hold has reached its cap",
      record: { launchesCountFrom: at(30), quiet: aSilence("breather", at(20)) },
    });
  });
});

describe("a release by force", () => {
  it("fences what is held and counts launches from now", () => {
    const decision = decideForce(aRecord({ hold: aHold() }), { reason: "maintenance", now: at(5) });

    expect(decision).toMatchObject({
      action: "release",
      record: { launchesCountFrom: at(5), hold: { state: "releasing", endsBecause: "maintenance" } },
    });
  });

  it("without a hold still prevents holds by late events", () => {
    const decision = decideForce(aRecord(), { reason: "maintenance", now: at(5) });

    expect(decision).toMatchObject({
      action: "note",
      because: "nothing is held",
      record: { launchesCountFrom: at(5) },
    });
  });

  it.each(["paused", "breather"] as const)("does not change a pause or breather: %s", (kind) => {
    const record = aRecord({ launchesCountFrom: at(30), quiet: aSilence(kind) });

    expect(decideForce(record, { reason: "maintenance", now: at(5) }).record).toEqual(record);
  });

  it("removes a pause or breather that has ended", () => {
    for (const minute of [1, 5]) {
      const record = aRecord({ launchesCountFrom: at(minute), quiet: aSilence("paused") });

      expect(decideForce(record, { reason: "maintenance", now: at(5) }).record).toEqual(
        aRecord({ launchesCountFrom: at(5) }),
      );
    }
  });

  it("keeps the reason of a release already under way", () => {
    const hold = aHold({ state: "releasing", endsBecause: "the hold expired" });

    expect(decideForce(aRecord({ hold }), { reason: "maintenance", now: at(21) }).record.hold).toEqual(hold);
  });

  it("with a request time ends only holds whose launch or request is earlier", () => {
    const force = (hold: Hold) =>
      decideForce(aRecord({ hold }), { reason: "maintenance", now: at(5), askedAt: at(2) });

    expect(force(aHold()).action).toBe("release");
    expect(force(aHold({ startedAt: at(3), causedAt: at(1) })).action).toBe("release");
    // By hand in a breather: its cause is the breather's end.
    expect(force(aHold({ startedAt: at(1), causedAt: at(10) })).action).toBe("release");
    const later = aHold({ startedAt: at(2), causedAt: at(2) });
    expect(force(later)).toEqual({
      action: "note",
      because: "the hold began after its release was asked for",
      record: aRecord({ hold: later, launchesCountFrom: at(2) }),
    });
  });

  it("with a request time moves no watermark back or into the future", () => {
    const watermark = (about: Partial<ScopeRecord>, askedAt: Date) =>
      decideForce(aRecord(about), { reason: "maintenance", now: at(5), askedAt }).record.launchesCountFrom;

    expect(watermark({}, at(2))).toEqual(at(2));
    expect(watermark({ launchesCountFrom: at(3) }, at(2))).toEqual(at(3));
    expect(watermark({ launchesCountFrom: at(1) }, at(9))).toEqual(at(5));
    expect(
      decideForce(aRecord({ hold: aHold() }), { reason: "maintenance", now: at(5), askedAt: at(9) }).action,
    ).toBe("release");
  });

  it("keeps a pause without end", () => {
    const record = aRecord({ launchesCountFrom: untilResumed, quiet: aSilence("paused") });

    expect(decideForce(record, { reason: "maintenance", now: at(5) }).record.launchesCountFrom).toEqual(
      untilResumed,
    );
  });
});

describe("a hold whose marks are off", () => {
  const releasing = aHold({ state: "releasing", endsBecause: "the hold expired", armedFor: at(20) });

  it("leaves the record and goes to history with its reason", () => {
    const closed = decideClose(aRecord({ hold: releasing, lastLaunchAt: noon }), holdId(1), at(21));

    expect(closed.record).toEqual(aRecord({ lastLaunchAt: noon }));
    expect(closed.past).toEqual({
      scope: "cluster",
      id: holdId(1),
      startedAt: noon,
      startedBecause: "a node was launched in NodePool default",
      causes: { launches: { default: 1 } },
      expiresAt: at(20),
      endedAt: at(21),
      endedBecause: "the hold expired",
      launches: 1,
      extensions: 0,
      nodes: 0,
      capped: false,
    });
  });

  it.each([
    ["there is none", aRecord()],
    ["it is another", aRecord({ hold: { ...releasing, id: holdId(2) } })],
    ["it was never fenced", aRecord({ hold: aHold() })],
  ])("is not closed when %s", (_, record) => {
    expect(decideClose(record, holdId(1), at(21))).toEqual({});
  });
});
