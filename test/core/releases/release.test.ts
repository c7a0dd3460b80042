import { describe, expect, it } from "vitest";
import { after, hours, minutes } from "../../../lambda/core/duration.ts";
import { nothingReleased } from "../../../lambda/core/holds/end-hold.ts";
import type { ScopeRecord } from "../../../lambda/core/holds/hold.ts";
import { watermarkOf } from "../../../lambda/core/holds/watermark.ts";
import { decideRelease, releaseNodes } from "../../../lambda/core/releases/release.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord, aSilence, someRules } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

const at = (minute: number) => after(noon, minutes(minute));
const decide = (record: ScopeRecord, now = at(20), rules = someRules(), id: string | undefined = holdId(1)) =>
  decideRelease({ record, watermark: watermarkOf(record), holdId: id, rules, now });
const sweep = (record: ScopeRecord, now = at(5)) =>
  decideRelease({ record, watermark: watermarkOf(record), rules: someRules(), now });

describe("a one-shot that fires", () => {
  it("fences the hold that expired", () => {
    const decision = decide(aRecord({ hold: aHold() }));
    const hold = aHold({ state: "releasing", endsBecause: "the hold expired" });
    expect(decision).toEqual({
      action: "release",
      because: "the hold expired",
      hold,
      record: aRecord({ hold }),
    });
  });

  it("begins the breather when the hold was capped, also by a cap that was lowered", () => {
    const breather = { quiet: aSilence("breather", at(31)), launchesCountFrom: at(41) };
    const because = "the hold has reached its cap";
    const lowered = someRules({ maxHold: minutes(30) });
    expect(decide(aRecord({ hold: aHold({ capped: true }) }), at(31))).toMatchObject({
      because,
      record: { ...breather, quiet: { ...breather.quiet, because } },
    });
    const longer = aRecord({ hold: aHold({ expiresAt: at(90) }) });
    expect(decide(longer, at(31), lowered).record?.launchesCountFrom).toEqual(at(41));
    expect(decide(longer, at(31), someRules({ maxHold: hours(2) })).action).toBe("keep");
  });

  it("releases nothing and is created again when the hold was extended", () => {
    const hold = aHold({ expiresAt: at(25) });
    const because = "the hold goes on";
    expect(decide(aRecord({ hold }))).toEqual({ action: "keep", hold, armFor: at(25), because });
  });

  it("a little too early is created again for a later time", () => {
    const decision = decide(aRecord({ hold: aHold({ armedFor: at(20) }) }), at(19.9));
    expect(decision).toMatchObject({ action: "keep", armFor: at(21), because: "the one-shot came early" });
  });

  it.each([
    ["nothing is held", aRecord()],
    ["another hold took its place", aRecord({ hold: aHold({ id: holdId(2) }) })],
    ["another hold took its place", aRecord({ hold: aHold({ id: holdId(2), state: "releasing" }) })],
  ])("changes nothing: %s", (because, record) => {
    expect(decide(record)).toEqual({ action: "leave", because });
  });
});

describe("a sweep", () => {
  it("ends a hold that is over, whichever it is", () => {
    const record = aRecord({ hold: aHold({ id: holdId(2) }) });
    expect(sweep(record, at(20))).toMatchObject({ action: "release", because: "the hold expired" });
    expect(sweep(aRecord())).toEqual({ action: "leave", because: "nothing is held" });
  });

  it.each([
    ["again for its time, in case it was lost", { armedFor: at(20) }, 5, at(20)],
    ["for the expiry when it has fired", { armedFor: at(20) }, 20, at(40)],
    ["for the expiry when there is none", {}, 5, at(40)],
    ["for its cap when that was lowered", { startedAt: at(-90), armedFor: at(40) }, 5, at(30)],
  ])("creates the one-shot of one that goes on %s", (_, about, minute, armFor) => {
    const hold = aHold({ expiresAt: at(40), ...about });
    const because = "the hold goes on";
    expect(sweep(aRecord({ hold }), at(minute))).toEqual({ action: "keep", hold, armFor, because });
  });
});

it("an unfinished release is continued without a write", () => {
  const hold = aHold({ state: "releasing" });
  const decision = { action: "release", hold, because: "its release was not finished" };
  expect(decide(aRecord({ hold }), noon)).toEqual(decision);
  expect(sweep(aRecord({ hold }), noon)).toEqual(decision);
});

describe("a release", () => {
  const due = aHold({ expiresAt: at(-1) });

  it("removes the marks of a hold that is over, and returns why", async () => {
    const { context, calls, record } = coreWorld({
      records: [aRecord({ hold: due })],
      released: { released: 3 },
    });
    const answer = await releaseNodes(context, "cluster", holdId(1));
    expect(answer).toEqual({ ...nothingReleased, released: 3, because: "the hold expired" });
    expect([calls, record()?.hold]).toEqual([[["release", holdId(1)]], undefined]);
  });

  it("of a NodePool's hold whose launches the whole cluster's watermark made void ends it", async () => {
    const pool = "nodepool/batch" as const;
    const records = [aRecord({ launchesCountFrom: at(1) }), aRecord({ scope: pool, hold: aHold() })];
    const { context } = coreWorld({ records, rules: { scope: "nodepool" } });
    const { because } = await releaseNodes(context, pool, holdId(1));
    expect(because).toBe("its launches no longer count");
  });

  it("sets the one-shot of a hold that was extended, and releases nothing", async () => {
    const { context, calls } = coreWorld({ records: [aRecord({ hold: aHold() })] });
    const answer = await releaseNodes(context, "cluster", holdId(1));
    expect(answer).toEqual({ ...nothingReleased, because: "the hold goes on" });
    expect(calls).toEqual([["arm", "cluster", holdId(1), at(20)]]);
  });

  it("of a hold that was replaced does nothing", async () => {
    const { context, calls } = coreWorld({ records: [aRecord({ hold: aHold({ id: holdId(2) }) })] });
    const answer = await releaseNodes(context, "cluster", holdId(1));
    expect(answer).toEqual({ ...nothingReleased, because: "another hold took its place" });
    expect(calls).toEqual([]);
  });
});
