import { describe, expect, it } from "vitest";
import { noBursts } from "../../../lambda/core/auto/bursts.ts";
import { after, minutes } from "../../../lambda/core/duration.ts";
import {
  closeHold,
  decideClose,
  decideEnd,
  endHold,
  nothingReleased,
  sum,
  whyOver,
} from "../../../lambda/core/holds/end-hold.ts";
import type { Hold } from "../../../lambda/core/holds/hold.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord, aSilence, someRules } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

const at = (minute: number) => after(noon, minutes(minute));

describe("why a hold is over", () => {
  const why = (
    about: Partial<Hold>,
    minute: number,
    rules: Partial<Rules> = {},
    { from = new Date(0), withoutNode = holdId(1) } = {},
  ) =>
    whyOver({
      record: aRecord({ hold: aHold(about) }),
      watermark: { from },
      withoutNode,
      rules: someRules(rules),
      now: at(minute),
    });
  const breather = minutes(10);
  const capped = { because: "the hold has reached its cap", isCut: true, breather };
  const unjoined = { because: "none of its nodes has joined", isCut: true, breather };
  const expired = { because: "the hold expired", isCut: false };
  const void_ = { because: "its launches no longer count", isCut: true };
  const moved = { because: "the setting scope has changed", isCut: true };

  // Called in the test, not while tests are collected: so a mutation of the rule is noticed.
  it.each<[string, () => ReturnType<typeof why>, object | undefined]>([
    ["it expired", () => why({}, 20), expired],
    ["it met its cap", () => why({ capped: true }, 20), capped],
    ["the cap was lowered, which counts at once", () => why({}, 10, { maxHold: minutes(10) }), capped],
    ["none of its nodes joined", () => why({ burstFrom: noon }, 20), unjoined],
    [
      "it expired, and it was not asked whether a node has joined",
      () => why({ burstFrom: noon }, 20, {}, { withoutNode: holdId(2) }),
      expired,
    ],
    ["it expired, and a node had joined", () => why({ burstFrom: noon, joined: true }, 20), expired],
    ["another setting of scope keeps holds elsewhere", () => why({}, 1, { scope: "nodepool" }), moved],
    ["its launches lie before the watermark", () => why({}, 1, {}, { from: at(0.1) }), void_],
    ["not before its time", () => why({ burstFrom: noon }, 19.9), undefined],
    ["not by a watermark at its cause", () => why({}, 1, {}, { from: noon }), undefined],
    ["not while it is released already", () => why({ state: "releasing" }, 30), undefined],
  ])("%s", (_, end, expected) => {
    expect(end()).toEqual(expected);
  });

  it("is nothing where nothing is held", () => {
    const facts = { record: aRecord(), watermark: { from: at(1) }, rules: someRules(), now: at(20) };
    expect(whyOver(facts)).toBeUndefined();
  });
});

describe("the end of a hold", () => {
  const learned = { ...noBursts, largest: 2, idle: [{ since: noon, nodes: 2 }] };
  const record = aRecord({ hold: aHold(), learned });

  it("fences it and records why; the watermark does not change", () => {
    const ended = decideEnd(record, aHold(), { because: "the hold expired", isCut: false }, at(20));
    const hold = aHold({ state: "releasing", endsBecause: "the hold expired" });
    expect(ended).toEqual({ ...record, hold });
  });

  it("may be followed by a breather", () => {
    const end = { because: "a hold reached its cap", isCut: false, breather: minutes(10) };
    const { hold, ...rest } = decideEnd(record, aHold(), end, at(20));
    expect(hold.state).toBe("releasing");
    expect(rest).toMatchObject({ quiet: aSilence("breather", at(20)), launchesCountFrom: at(30) });
  });

  it("before its expiry ends the present gap: nothing is learned from what comes next", () => {
    const idle = (isCut: boolean) => decideEnd(record, aHold(), { because: "x", isCut }, at(5)).learned?.idle;
    expect([idle(false), idle(true)]).toEqual([learned.idle, []]);
  });
});

describe("a hold whose marks are removed", () => {
  const releasing = aHold({
    state: "releasing",
    endsBecause: "the hold expired",
    armedFor: at(20),
    burstFrom: noon,
    joined: true,
    askedUntil: at(25),
    unprotected: true,
  });

  it("leaves the record and goes to history with its reason", () => {
    const closed = decideClose(aRecord({ hold: releasing, lastLaunchAt: noon }), holdId(1), at(21));
    const { state: _, causedAt: __, ...rest } = aHold();
    const ended = { scope: "cluster", endedAt: at(21), endedBecause: "the hold expired" };
    expect(closed).toEqual({ record: aRecord({ lastLaunchAt: noon }), past: { ...rest, ...ended } });
  });

  it.each([
    ["there is none", aRecord()],
    ["it is another", aRecord({ hold: { ...releasing, id: holdId(2) } })],
    ["it was never fenced", aRecord({ hold: aHold() })],
  ])("is not closed when %s", (_, record) => {
    expect(decideClose(record, holdId(1), at(21))).toEqual({});
  });
});

describe("ending a hold", () => {
  const hold = aHold({ state: "releasing", expiresAt: at(-1) });
  const holdOfScope = { scope: "cluster", hold } as const;

  it("removes its marks, closes it, and measures how late it was", async () => {
    const released = { released: 3, kept: 1 };
    const { context, record, world, metrics, calls } = coreWorld({ records: [aRecord({ hold })], released });
    expect(await endHold(context, holdOfScope)).toEqual({ ...nothingReleased, ...released });
    expect(record()?.hold).toBeUndefined();
    expect([...world.journal.past.values()]).toMatchObject([{ id: holdId(1), endedAt: noon }]);
    expect(metrics.all("ReleaseLagMs")).toEqual([minutes(1)]);
    expect(calls).toEqual([["release", holdId(1)]]);
  });

  it("by hand before its expiry was not late", async () => {
    const early = aHold({ state: "releasing" });
    const { context, metrics } = coreWorld({ records: [aRecord({ hold: early })] });
    await closeHold(context, { scope: "cluster", hold: early }, nothingReleased);
    expect(metrics.all("ReleaseLagMs")).toEqual([0]);
  });

  it.each([{ failed: 1 }, { left: true }])(
    "goes on within a minute, on the whole minute: %j",
    async (released) => {
      const { context, world, record, calls, metrics } = coreWorld({
        records: [aRecord({ hold })],
        released,
      });
      for (const [second, minute] of [
        [29, 1],
        [30, 1],
        [31, 2],
      ] as const) {
        world.time = after(noon, second * 1_000);
        await endHold(context, holdOfScope);
        expect(calls.at(-1)).toEqual(["arm", "cluster", holdId(1), at(minute)]);
      }
      expect(record()?.hold?.state).toBe("releasing");
      expect(metrics.all("ReleaseLagMs")).toEqual([]);
    },
  );

  it("that another invocation has closed measures nothing", async () => {
    const { context, metrics } = coreWorld({ records: [aRecord()] });
    await endHold(context, holdOfScope);
    expect(metrics.values).toEqual([]);
  });
});

it("adds releases up", () => {
  const one = { released: 1, kept: 2, failed: 3, left: false };
  const ten = { released: 10, kept: 20, failed: 30, left: false };
  expect(sum(one, ten)).toEqual({ released: 11, kept: 22, failed: 33, left: false });
  expect(sum(one, { ...nothingReleased, left: true }).left).toBe(true);
  expect(sum({ ...one, left: true }, nothingReleased).left).toBe(true);
});
