import { describe, expect, it } from "vitest";
import { after, hours, minutes } from "../../../lambda/core/duration.ts";
import { BrokenSetupError, TryAgainError } from "../../../lambda/core/errors.ts";
import { whyOver } from "../../../lambda/core/holds/end-hold.ts";
import { type ScopeRecord, withoutHold } from "../../../lambda/core/holds/hold.ts";
import { untilResumed, watermarkOf } from "../../../lambda/core/holds/watermark.ts";
import { decideHold, type HoldRequest, holdByHand } from "../../../lambda/core/operate/hold-by-hand.ts";
import { decideRelease, releaseNodes } from "../../../lambda/core/releases/release.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord, aSilence, someRules } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

const at = (minute: number) => after(noon, minutes(minute));
const request: HoldRequest = { for: minutes(45), reason: "test", cause: "hand" };
const hold = (record: ScopeRecord, minutesLong: number, now = noon) =>
  decideHold({
    record,
    watermark: watermarkOf(record),
    request: { for: minutes(minutesLong), reason: "load test", cause: "hand" },
    rules: someRules({ maxHold: hours(2) }),
    now,
    newId: "new",
  });

describe("a hold for an event", () => {
  const rules = someRules({ maxHold: hours(2) });
  const deliver = (record: ScopeRecord, minute: number, minutesLong = 30) => {
    const request = { for: minutes(minutesLong), reason: "deployment", cause: "event", at: noon } as const;
    const watermark = watermarkOf(record);
    return decideHold({ record, watermark, request, rules, now: at(minute), newId: "new" });
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

  it("reports why it asks for nothing", () => {
    const before = "it was launched before launches began to count again";
    expect(deliver(aRecord(), 30).because).toBe("the requested time is over");
    expect(deliver(aRecord({ launchesCountFrom: at(30) }), 30, 60).because).toBe(before);
  });

  it("counts when it happens at the moment of a release by hand", () => {
    expect(deliver(aRecord({ launchesCountFrom: noon }), 5).action).toBe("start");
  });

  it.each(["event", "window"] as const)("starts and extends nothing in a breather: %s", (cause) => {
    const quiet = { launchesCountFrom: at(10), quiet: aSilence("breather") };
    for (const record of [aRecord(quiet), aRecord({ ...quiet, hold: aHold() })]) {
      const asked = { for: minutes(30), reason: "deployment", cause };
      const facts = { record, watermark: watermarkOf(record), rules, now: at(5), newId: "new" };
      for (const request of [asked, { ...asked, at: at(4) }])
        expect(decideHold({ ...facts, request })).toEqual({
          action: "leave",
          because: "breather until 2026-11-21T12:10:00.000Z (a hold reached its cap)",
        });
    }
  });

  it.each([
    ["that began with a launch", at(-60), at(20)],
    ["that already lasts as long as it may", at(-60), at(60)],
    ["that it starts", undefined, undefined],
  ])(
    "that asks beyond the cap of a hold %s is followed by a breather, and never starts it again",
    (_, startedAt, expiresAt) => {
      const hold = startedAt && expiresAt ? { hold: aHold({ startedAt, expiresAt }) } : {};
      const first = deliver(aRecord(hold), 5, 300).record ?? aRecord();
      const due = startedAt ? at(60) : at(120);
      const facts = { rules: { ...rules, breather: 0 }, holdId: first.hold?.id, now: due };
      const ended = decideRelease({ record: first, watermark: watermarkOf(first), ...facts });
      expect(ended.because).toBe("the hold has reached its cap");
      expect(deliver(withoutHold(ended.record ?? first), startedAt ? 61 : 121, 300).action).toBe("leave");
    },
  );
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

    expect(decision).toMatchObject({ action: "keep", because: "the hold already lasts longer" });
    expect(decision.record?.hold).toMatchObject({ expiresAt: at(60), causes: { hand: "load test" } });
    expect(hold(decision.record ?? aRecord(), asked).record).toBeUndefined();
  });

  it.each([45, 60, 75])(
    "protects again what looks have let go: %i minutes asked of one that lasts 60",
    (asked) => {
      const narrow = aHold({ expiresAt: at(60), narrowsAt: at(20), marksFrom: at(25) });
      const wide = hold(aRecord({ hold: narrow }), asked, at(30)).record?.hold;
      expect(wide).toMatchObject({ unprotected: true });
      expect(wide).not.toHaveProperty("narrowsAt");
      expect(wide).not.toHaveProperty("marksFrom");
    },
  );

  it("names the cap as the reason when it cannot extend further", () => {
    const decision = hold(aRecord({ hold: aHold({ expiresAt: at(120) }) }), 300);

    expect(decision).toMatchObject({ action: "keep", because: "holds last 2h at most" });
  });

  it("during a release is a new hold that replaces the old one", () => {
    const decision = hold(aRecord({ hold: aHold({ state: "releasing" }) }), 45, at(21));

    expect(decision).toMatchObject({ action: "start", hold: { id: "new" }, past: { id: holdId(1) } });
  });

  it("is refused in a pause", () => {
    const decision = hold(aRecord({ launchesCountFrom: untilResumed, quiet: aSilence("paused") }), 45);

    expect(decision).toEqual({ action: "refuse", because: "paused until resumed (upgrade): resume first" });
  });

  it("that is delivered again with its own time extends nothing, and starts nothing after a release", () => {
    const deliver = (record: ScopeRecord) => {
      const request = { for: minutes(45), reason: "load test", cause: "hand", at: noon } as const;
      const facts = { record, watermark: watermarkOf(record), rules: someRules(), newId: "new" };
      return decideHold({ ...facts, request, now: at(10) }).action;
    };
    expect(deliver(hold(aRecord(), 45).record ?? aRecord())).toBe("keep");
    expect(deliver(aRecord({ launchesCountFrom: at(5) }))).toBe("leave");
  });

  it("begins also in a breather, whose watermark does not end it", () => {
    const record = aRecord({ launchesCountFrom: at(10), quiet: aSilence("breather") });
    const written = hold(record, 45).record ?? record;
    expect(written.launchesCountFrom).toEqual(at(10));
    const facts = { record: written, watermark: watermarkOf(written), rules: someRules(), now: at(5) };
    expect(whyOver(facts)).toBeUndefined();
  });
});

describe("holding by hand", () => {
  it("counts as started, once, and answers with its end and the nodes that carry its mark", async () => {
    const { context, metrics } = coreWorld({ marked: { marked: 3, adopted: 2, userHeld: 1 } });
    const answer = await holdByHand(context, "cluster", request);
    expect(answer).toMatchObject({ until: at(45), marked: 5, userHeld: 1, because: "test" });
    expect(metrics.total("HoldsStarted")).toBe(1);
    await holdByHand(context, "cluster", { ...request, for: minutes(60) });
    expect(metrics.total("HoldsStarted")).toBe(1);
  });

  it.each([
    ["a new hold", {}],
    ["a running one", { hold: aHold({ expiresAt: at(20) }) }],
    ["one that lasts until its cap", { hold: aHold({ expiresAt: at(120) }) }],
  ])("counts %s as capped, once, when a request reaches the cap", async (_, present) => {
    const { context, metrics } = coreWorld({ records: [aRecord(present)], rules: { maxHold: hours(2) } });
    for (const cause of ["event", "hand"] as const)
      await holdByHand(context, "cluster", { ...request, cause, for: minutes(300) });
    expect(metrics.total("HoldsCapped")).toBe(1);
  });

  it("for an event lists no node where the hold has marked its nodes, unlike by hand", async () => {
    for (const armedFor of [at(20), undefined]) {
      const records = [aRecord({ hold: aHold({ ...(armedFor && { armedFor }) }) })];
      for (const minute of [15, 45]) {
        const { context, calls } = coreWorld({ records });
        const asked = { ...request, for: minutes(minute) };
        const answer = await holdByHand(context, "cluster", { ...asked, cause: "event" });
        expect(answer).toMatchObject({ holdId: holdId(1), until: at(Math.max(minute, 20)), marked: 0 });
        expect(calls.some(([call]) => call === "mark")).toBe(armedFor === undefined);
        await holdByHand(context, "cluster", asked);
        expect(calls).toContainEqual(["mark", "cluster", holdId(1)]);
      }
    }
  });

  it("of a running hold answers when it is due by a cap that was lowered", async () => {
    const records = [aRecord({ hold: aHold({ expiresAt: at(60) }) })];
    const { context } = coreWorld({ records, rules: { maxHold: minutes(30) } });
    expect(await holdByHand(context, "cluster", request)).toMatchObject({ until: at(30) });
  });

  it("extends nothing when its invocation is retried, also after the hold has ended at its cap", async () => {
    const { context, world, record } = coreWorld({ rules: { maxHold: minutes(30) } });
    const ask = (requestId: string, minute: number) => {
      world.time = at(minute);
      return holdByHand({ ...context, requestId }, "cluster", { ...request, for: minutes(20) });
    };
    await ask("first", 0);
    expect(await ask("first", 5)).toMatchObject({ until: at(20), because: "the hold already lasts longer" });
    await ask("second", 15);
    world.time = at(30);
    await releaseNodes(context, "cluster", record()?.hold?.id ?? "");
    for (const minute of [31, 34]) expect((await ask("second", minute)).because).toMatch(/^breather until/);
    expect(record()?.hold).toBeUndefined();
    expect(await ask("third", 34)).toMatchObject({ until: at(54) });
  });

  it("queues what it could not mark", async () => {
    const { context, queued } = coreWorld({ marked: { failed: 1 } });
    await holdByHand(context, "cluster", request);
    const followUp = { kind: "pendingNodes", scope: "cluster", awaited: [], attempt: 1 };
    expect(queued).toMatchObject([{ followUp }]);
  });

  it.each([
    ["BrokenSetupError", BrokenSetupError],
    ["TryAgainError", TryAgainError],
  ] as const)("whose nodes cannot be marked says that it is recorded: %s", async (name, Kind) => {
    const { context, record } = coreWorld();
    context.nodes.mark = () => Promise.reject(new Kind("the cluster refused the login (401)"));
    await expect(holdByHand(context, "cluster", request)).rejects.toMatchObject({
      name,
      message:
        "the cluster refused the login (401); the hold is recorded until 2026-11-21T12:45:00.000Z: " +
        "the next sweep marks its nodes, and `release --force` cancels it",
    });
    expect(record()?.hold?.state).toBe("held");
  });

  it("is refused in a pause; one for an event that asks for nothing is answered with the reason", async () => {
    const { context, calls } = coreWorld({
      records: [aRecord({ quiet: aSilence("paused"), launchesCountFrom: untilResumed })],
    });
    await expect(holdByHand(context, "cluster", request)).rejects.toThrow(/^Cannot hold.*resume first/s);
    const answer = await holdByHand(context, "cluster", { ...request, cause: "event" });
    expect(answer).toEqual({ marked: 0, userHeld: 0, because: expect.stringContaining("paused") });
    const over = { ...request, cause: "event", at: at(-60) } as const;
    const late = await holdByHand(coreWorld().context, "cluster", over);
    expect(late).toEqual({ marked: 0, userHeld: 0, because: "the requested time is over" });
    expect(calls).toEqual([]);
  });
});
