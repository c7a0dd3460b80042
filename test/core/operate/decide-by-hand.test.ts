import { describe, expect, it } from "vitest";
import { after, hours, minutes } from "../../../lambda/core/duration.ts";
import { type ScopeRecord, untilResumed, watermarkOf } from "../../../lambda/core/holds/hold.ts";
import { decideHold, decidePause, decideResume } from "../../../lambda/core/operate/decide-by-hand.ts";
import { decideForce, fence } from "../../../lambda/core/releases/decide-release.ts";
import { decideSweep } from "../../../lambda/core/sweep/decide-sweep.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord, aSilence, someRules } from "../../support/builders.ts";

const at = (minute: number) => after(noon, minutes(minute));
const hold = (record: ScopeRecord, minutesLong: number, now = noon) =>
  decideHold({
    record,
    watermark: watermarkOf(record),
    wish: { for: minutes(minutesLong), reason: "load test", cause: "hand" },
    rules: someRules({ maxHold: hours(2) }),
    now,
    newId: "new",
  });

describe("a hold for an event", () => {
  const rules = someRules({ maxHold: hours(2) });
  const deliver = (record: ScopeRecord, minute: number, minutesLong = 30) => {
    const wish = { for: minutes(minutesLong), reason: "deployment", cause: "event", at: noon } as const;
    const watermark = watermarkOf(record);
    return decideHold({ record, watermark, wish, rules, now: at(minute), newId: "new" });
  };

  it("lasts from the event's own time, and a second delivery extends nothing", () => {
    const first = deliver(aRecord(), 5);
    expect(first).toMatchObject({ hold: { expiresAt: at(30), causes: { event: "deployment" } } });
    expect(deliver(first.record ?? aRecord(), 10).action).toBe("keep");
  });

  it.each([
    ["whose time is over", aRecord(), 30, 30],
    ["of a hold that was capped", aRecord(), 121, 300],
    ["of a hold that was released by hand", aRecord({ launchesCountFrom: at(6) }), 10, 30],
  ])("is not started again by a delivery %s", (_, record, minute, length) => {
    expect(deliver(record, minute, length).action).toBe("leave");
  });

  it("says why it asks for nothing", () => {
    const before = "it was launched before the holder was asked to start afresh";
    expect(deliver(aRecord(), 30).because).toBe("the time it asks for is over");
    expect(deliver(aRecord({ launchesCountFrom: at(30) }), 30, 60).because).toBe(before);
  });

  it("counts from the very moment of a release by hand, and in a breather", () => {
    expect(deliver(aRecord({ launchesCountFrom: noon }), 5).action).toBe("start");
    expect(deliver(aRecord({ launchesCountFrom: at(10), quiet: aSilence("breather") }), 5).action).toBe(
      "start",
    );
  });
});

describe("a hold by hand", () => {
  it("starts now and lasts as long as asked; no launch waits for its protection", () => {
    const decision = hold(aRecord(), 45);
    expect(decision).toMatchObject({
      action: "start",
      hold: { id: "new", expiresAt: at(45), startedBecause: "load test", launches: 0, capped: false },
    });
    expect(decision).not.toHaveProperty("hold.unprotected");
  });

  it("never lasts longer than the cap", () => {
    expect(hold(aRecord(), 300)).toMatchObject({ action: "start", hold: { expiresAt: at(120) } });
  });

  it("extends a running hold, never past the cap", () => {
    expect(hold(aRecord({ hold: aHold() }), 45)).toMatchObject({
      action: "extend",
      hold: { expiresAt: at(45), extensions: 1 },
    });
    expect(hold(aRecord({ hold: aHold() }), 300)).toMatchObject({ hold: { expiresAt: at(120) } });
  });

  it.each([45, 60])("never shortens one: %i minutes asked of one that lasts 60", (asked) => {
    const decision = hold(aRecord({ hold: aHold({ expiresAt: at(60) }) }), asked);

    expect(decision).toMatchObject({ action: "keep", because: "the hold lasts longer already" });
    expect(decision.record).toBeUndefined();
  });

  it("names the cap as the reason when it cannot extend further", () => {
    const decision = hold(aRecord({ hold: aHold({ expiresAt: at(120) }) }), 300);

    expect(decision).toMatchObject({ action: "keep", because: "holds last 2h at most" });
  });

  it("during a release is a new hold that replaces the old one", () => {
    const decision = hold(aRecord({ hold: aHold({ state: "releasing" }) }), 45, at(21));

    expect(decision).toMatchObject({ action: "start", hold: { id: "new" }, superseded: { id: holdId(1) } });
  });

  it("is refused in a pause", () => {
    const decision = hold(aRecord({ launchesCountFrom: untilResumed, quiet: aSilence("paused") }), 45);

    expect(decision).toEqual({ action: "refuse", because: "paused until resumed (upgrade): resume first" });
  });

  it("reports who paused and why", () => {
    const { record } = decidePause(aRecord(), {
      until: at(120),
      reason: "Ada replaces every node",
      now: noon,
    });

    expect(hold(record, 45)).toEqual({
      action: "refuse",
      because: "paused until 2026-11-21T14:00:00.000Z (Ada replaces every node): resume first",
    });
  });

  it("begins also in a breather, and the next sweep keeps it", () => {
    const record = aRecord({ launchesCountFrom: at(10), quiet: aSilence("breather") });

    const { record: written } = hold(record, 45);

    expect(written?.launchesCountFrom).toEqual(at(10));
    const present = written ?? record;
    const watermark = watermarkOf(present);
    const swept = decideSweep({ record: present, watermark, rules: someRules(), now: at(5) });
    expect(swept.action).toBe("keep");
  });
});

describe("a pause", () => {
  it("ends what is held and lets no launch count until it is over", () => {
    const paused = decidePause(aRecord({ hold: aHold() }), { until: at(120), reason: "upgrade", now: at(5) });

    expect(paused).toMatchObject({
      action: "release",
      record: {
        launchesCountFrom: at(120),
        quiet: aSilence("paused", at(5)),
        hold: { state: "releasing", endsBecause: "paused by hand: upgrade" },
      },
    });
  });

  it("replaces an earlier one, longer or shorter", () => {
    const record = aRecord({ launchesCountFrom: untilResumed, quiet: aSilence("paused") });

    expect(
      decidePause(record, { until: at(60), reason: "upgrade", now: noon }).record.launchesCountFrom,
    ).toEqual(at(60));
  });

  it("keeps its reason until it ends", () => {
    const { record } = decidePause(aRecord({ hold: aHold({ capped: true }) }), {
      until: at(120),
      reason: "upgrade",
      now: noon,
    });
    const again = decidePause(record, { until: at(60), reason: "another upgrade", now: at(1) }).record;
    const forced = decideForce(record, { reason: "maintenance", now: at(5) }).record;
    const breather = fence({
      record: { ...record, quiet: aSilence("paused") },
      hold: aHold({ capped: true }),
      rules: someRules(),
      now: at(5),
    }).record;

    expect(again.quiet).toEqual({ ...aSilence("paused"), because: "another upgrade" });
    expect(forced.quiet).toEqual(aSilence("paused"));
    expect(breather?.quiet).toEqual(aSilence("breather", at(5)));
    for (const over of [
      decideResume(record, at(5)).record,
      decideForce(record, { reason: "later", now: at(121) }).record,
    ])
      expect(over).not.toHaveProperty("quiet");
  });

  it("keeps its start time", () => {
    const { record } = decidePause(aRecord(), { until: untilResumed, reason: "upgrade", now: at(5) });
    const resumed = decideResume(record, at(6)).record;
    const since = (before: ScopeRecord) =>
      decidePause(before, { until: at(60), reason: "again", now: at(10) }).record.quiet?.since;

    expect(record.quiet?.since).toEqual(at(5));
    expect(since(record)).toEqual(at(5));
    expect(since(resumed ?? record)).toEqual(at(10));
    expect(since(aRecord({ launchesCountFrom: at(30), quiet: aSilence("breather") }))).toEqual(at(10));
  });

  it("does not shorten a breather", () => {
    const record = aRecord({ launchesCountFrom: at(10), quiet: aSilence("breather") });

    expect(
      decidePause(record, { until: at(5), reason: "upgrade", now: noon }).record.launchesCountFrom,
    ).toEqual(at(10));
  });
});

describe("resuming", () => {
  it.each([
    ["paused", "the pause is over"],
    ["breather", "the breather is cut short"],
  ] as const)("counts launches from now on: %s", (kind, because) => {
    const decision = decideResume(aRecord({ launchesCountFrom: at(60), quiet: aSilence(kind) }), at(5));

    expect(decision).toEqual({ action: "resume", because, record: aRecord({ launchesCountFrom: at(5) }) });
  });

  it.each([
    ["never paused", aRecord()],
    ["released by force by a clock that is ahead", aRecord({ launchesCountFrom: at(5.1) })],
    ["paused once", aRecord({ launchesCountFrom: at(1), quiet: aSilence("paused") })],
    ["paused until now", aRecord({ launchesCountFrom: at(5), quiet: aSilence("paused") })],
  ])("changes nothing where nothing is paused: %s", (_, record) => {
    expect(decideResume(record, at(5))).toEqual({ action: "leave", because: "nothing was paused" });
  });
});
