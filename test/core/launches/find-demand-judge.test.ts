import { describe, expect, it } from "vitest";
import { after, type Duration, hours, minutes, seconds } from "../../../lambda/core/duration.ts";
import {
  type JudgeFacts,
  judgeAgainAfter,
  judgeLaunch,
  mostRemembered,
  remember,
} from "../../../lambda/core/launches/find-demand.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aLaunch, aRecord } from "../../support/builders.ts";

const launch = aLaunch({ instance: "i-1" });
const later = (age: Duration) => after(noon, age);

describe("a launch", () => {
  const judge = (age: Duration, replacements: JudgeFacts["replacements"], about: Partial<JudgeFacts> = {}) =>
    judgeLaunch(launch, {
      remembered: new Set(),
      replacements,
      firstSeenAt: noon,
      now: later(age),
      ...about,
    });
  const ofOther = { nodeClaim: "b", instance: "i-2" };
  const open = { nodeClaim: "c" };

  it.each<[string, Duration, JudgeFacts["replacements"], ReturnType<typeof judge>]>([
    [
      "that an event names is a replacement",
      0,
      [ofOther, { nodeClaim: "a", instance: "i-1" }],
      { kind: "replacement", because: "Karpenter launched NodeClaim a to replace other nodes" },
    ],
    [
      "that an event names is demand where Karpenter asked for more than the replaced nodes have room for",
      0,
      [ofOther, { nodeClaim: "a", instance: "i-1", isForMore: true }],
      { kind: "demand", because: expect.stringContaining("a replaces other nodes, but pods wait, too") },
    ],
    [
      "is unknown while its event may be on its way",
      1_999,
      [],
      { kind: "unknown yet", because: "Karpenter's event of a replacement may still be on its way" },
    ],
    [
      "is demand when no event names it by then",
      2_000,
      [ofOther],
      { kind: "demand", because: "no event names it as a replacement" },
    ],
    [
      "is unknown while some replacement has no instance yet",
      59_999,
      [ofOther, open],
      { kind: "unknown yet", because: "replacement c has no instance yet" },
    ],
    [
      "is demand after a minute of that",
      60_000,
      [open],
      { kind: "demand", because: "in doubt: replacement c has no instance yet" },
    ],
    [
      "is unknown while the events cannot be read",
      0,
      "no answer",
      { kind: "unknown yet", because: "Karpenter's events could not be read" },
    ],
    [
      "is demand at once where the events may not be read",
      0,
      { unavailable: "no right" },
      { kind: "demand", because: "no right" },
    ],
  ])("%s", (_, age, replacements, verdict) => {
    expect(judge(age, replacements)).toEqual(verdict);
  });

  it("that was recognised before stays a replacement, whatever can be read now", () => {
    expect(judge(0, "no answer", { remembered: new Set(["i-1"]) })).toEqual({
      kind: "replacement",
      because: "it was recognised as a replacement before",
    });
  });

  it("is as old as its event says, or as long as we have known it", () => {
    expect(judge(seconds(1), [], { firstSeenAt: later(-seconds(1)) }).kind).toBe("demand");
    expect(judge(seconds(1), [], { firstSeenAt: later(seconds(1)) }).kind).toBe("unknown yet");
  });

  it.each([
    [0, 2_000],
    [1_500, 500],
    [2_000, 5_000],
  ])("that is unknown at the age of %i ms is judged again %i ms later", (age, delay) => {
    expect(judgeAgainAfter(launch, { firstSeenAt: noon, now: later(age) })).toBe(delay);
  });
});

describe("replacements", () => {
  const one = (n: number, launchedAt = noon) => ({ instance: `i-${n}`, launchedAt });
  const rememberIn = (known: readonly ReturnType<typeof one>[], more: readonly ReturnType<typeof one>[]) =>
    remember(aRecord({ version: 3, replacements: known }), more, noon);

  it("are remembered beside those that were, oldest first", () => {
    const old = one(2, later(-minutes(1)));
    expect(rememberIn([one(1)], [one(1), old])).toEqual(aRecord({ version: 3, replacements: [old, one(1)] }));
    expect(remember(aRecord(), [one(1)], noon)?.replacements).toEqual([one(1)]);
  });

  it("that are known already need no write", () => {
    expect(rememberIn([one(1)], [one(1)])).toBeUndefined();
  });

  it("are forgotten an hour after the longest hold that a setting allows", () => {
    const [old, young] = [one(1, later(-hours(25))), one(2, after(later(-hours(25)), 1))];
    expect(rememberIn([old, young], [one(3)])?.replacements).toEqual([young, one(3)]);
  });

  it("of very many the latest are remembered", () => {
    const many = Array.from({ length: mostRemembered }, (_, n) => one(n, later(n)));
    const kept = rememberIn(many, [one(-1, later(hours(1)))])?.replacements;
    expect([kept?.length, kept?.[0]?.instance, kept?.at(-1)?.instance]).toEqual([
      mostRemembered,
      "i-1",
      "i--1",
    ]);
  });
});
