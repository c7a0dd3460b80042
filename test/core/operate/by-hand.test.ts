import { describe, expect, it } from "vitest";
import { after, minutes } from "../../../lambda/core/duration.ts";
import { BadInputError } from "../../../lambda/core/errors.ts";
import { untilResumed } from "../../../lambda/core/holds/hold.ts";
import type { HoldRequest } from "../../../lambda/core/operate/decide-by-hand.ts";
import { holdByHand, pause, resume } from "../../../lambda/core/operate/operate.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord, aSilence } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

const at = (minute: number) => after(noon, minutes(minute));
const wish: HoldRequest = { for: minutes(45), reason: "test", cause: "hand" };
const paused = { quiet: aSilence("paused"), launchesCountFrom: untilResumed } as const;
const pool = "nodepool/batch" as const;

describe("a hold by hand", () => {
  it("counts as started, once, and answers with its end and the nodes that carry its mark", async () => {
    const { context, metrics } = coreWorld({ marked: { marked: 3, adopted: 2, userHeld: 1 } });
    const answer = await holdByHand(context, "cluster", wish);
    expect(answer).toMatchObject({ until: at(45), marked: 5, userHeld: 1, because: "test" });
    expect(metrics.total("HoldsStarted")).toBe(1);
    await holdByHand(context, "cluster", { ...wish, for: minutes(60) });
    expect(metrics.total("HoldsStarted")).toBe(1);
  });

  it("of a running hold answers when it is due by a cap that was lowered", async () => {
    const records = [aRecord({ hold: aHold({ expiresAt: at(60) }) })];
    const { context } = coreWorld({ records, rules: { maxHold: minutes(30) } });
    expect(await holdByHand(context, "cluster", wish)).toMatchObject({ until: at(30) });
  });

  it("marks again later what it could not mark now", async () => {
    const { context, queued } = coreWorld({ marked: { failed: 1 } });
    await holdByHand(context, "cluster", wish);
    const followUp = { kind: "pendingNodes", scope: "cluster", awaited: [], attempt: 1 };
    expect(queued).toMatchObject([{ followUp }]);
  });

  it.each([
    ["cluster", pool, '"cluster"'],
    ["nodepool", "cluster", '"nodepool/NAME"'],
  ] as const)(
    "with scope %s is refused for %s, and names what is expected",
    async (scope, asked, expected) => {
      const { context } = coreWorld({ rules: { scope } });
      const refused = holdByHand(context, asked, wish);
      await expect(refused).rejects.toThrow(BadInputError);
      await expect(refused).rejects.toThrow(`Cannot hold: scope must be ${expected}`);
    },
  );

  it("is refused in a pause; one for an event that asks for nothing is answered with the reason", async () => {
    const { context, calls } = coreWorld({ records: [aRecord(paused)] });
    await expect(holdByHand(context, "cluster", wish)).rejects.toThrow(/^Cannot hold.*resume first/s);
    const answer = await holdByHand(context, "cluster", { ...wish, cause: "event" });
    expect(answer).toEqual({ marked: 0, userHeld: 0, because: expect.stringContaining("paused") });
    const over = { ...wish, cause: "event", at: at(-60) } as const;
    const late = await holdByHand(coreWorld().context, "cluster", over);
    expect(late).toEqual({ marked: 0, userHeld: 0, because: "the time it asks for is over" });
    expect(calls).toEqual([]);
  });
});

describe("a pause", () => {
  it("answers until when it lasts, and why", async () => {
    const because = "paused by hand: upgrade";
    const { context, record } = coreWorld();
    const nodes = { ...context.nodes, marks: async () => new Map() };
    const asked = (wished: object) => pause({ ...context, nodes }, { reason: "upgrade", ...wished });
    expect(await asked({ for: minutes(30) })).toMatchObject({ until: at(30), because });
    expect(record()).toMatchObject({ launchesCountFrom: at(30) });
    expect(await asked({})).toMatchObject({ until: undefined, because });
    expect(record()).toMatchObject({ launchesCountFrom: untilResumed });
  });
});

describe("resuming", () => {
  const both = () => coreWorld({ records: [aRecord(paused), aRecord({ scope: pool, ...paused })] });

  it.each([undefined, "cluster"] as const)("everything resumes every scope: %s", async (scope) => {
    const answer = await resume(both().context, scope);
    expect(answer).toEqual({ resumed: ["cluster", pool], because: "the pause is over" });
  });

  it("one NodePool resumes that one, and says that the whole cluster is paused", async () => {
    const { context, record } = both();
    const because = "the whole cluster is still paused: resume it";
    expect(await resume(context, pool)).toEqual({ resumed: [pool], because });
    expect(record()).toMatchObject(paused);
  });

  it("one NodePool beside a cluster that is not paused says what ended", async () => {
    const { context } = coreWorld({ records: [aRecord(), aRecord({ scope: pool, ...paused })] });
    expect(await resume(context, pool)).toEqual({ resumed: [pool], because: "the pause is over" });
  });

  it("what was never paused changes nothing", async () => {
    const { context } = coreWorld({ records: [aRecord()] });
    expect(await resume(context, undefined)).toEqual({ resumed: [], because: "nothing was paused" });
  });
});
