import { describe, expect, it } from "vitest";
import { after, hours, minutes } from "../../../lambda/core/duration.ts";
import { BrokenSetupError } from "../../../lambda/core/errors.ts";
import type { Hold, ScopeRecord } from "../../../lambda/core/holds/hold.ts";
import type { Context, NodeClaim, NodeClaims } from "../../../lambda/core/ports.ts";
import { extendWhileUsed } from "../../../lambda/core/releases/extend-while-used.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import type { World } from "../../../simulator/world.ts";
import { aHold, aRecord } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

const at = (minute: number) => after(noon, minutes(minute));
const usedAt = (minute: number, about: Partial<NodeClaim> = {}): NodeClaim => ({
  name: "a",
  createdAt: noon,
  lastPodEventAt: at(minute),
  ...about,
});

type Answer = Awaited<ReturnType<NodeClaims["launchedSince"]>>;
type Facts = Readonly<{
  claims?: readonly NodeClaim[] | ((world: World) => Answer);
  hold?: Partial<Hold>;
  record?: Partial<ScopeRecord>;
  rules?: Partial<Rules>;
  now?: number;
}>;

/** A hold for launches at noon that is due at 12:20; asked at that moment. */
async function extend({ claims = [usedAt(15)], hold = {}, record = {}, rules = {}, now = 20 }: Facts = {}) {
  const held = aHold({ burstFrom: noon, ...hold });
  const it = coreWorld({ records: [aRecord({ hold: held, ...record })], rules });
  it.world.time = at(now);
  const asked: unknown[] = [];
  const launchedSince: NodeClaims["launchedSince"] = async (scope, since) => {
    asked.push([scope, since]);
    return typeof claims === "function" ? claims(it.world) : claims;
  };
  const context: Context = { ...it.context, nodeClaims: { ...it.context.nodeClaims, launchedSince } };
  const failed = await extendWhileUsed(context, "cluster").then(
    () => undefined,
    (error: Error) => error.message,
  );
  const { metrics } = it;
  const counted = [metrics.total("HoldsExtendedByUse"), metrics.total("HoldsCapped")];
  return { asked, failed, counted, metrics, expiresAt: it.record()?.hold?.expiresAt, record: it.record() };
}

describe("a hold that is due", () => {
  it("lasts from the last use of its nodes on, those that were made a minute before the launch included", async () => {
    const { asked, counted, expiresAt } = await extend({ claims: [usedAt(15), usedAt(18), usedAt(16)] });
    expect({ asked, counted, expiresAt }).toEqual({
      asked: [["cluster", at(-1)]],
      counted: [1, 0],
      expiresAt: at(38),
    });
  });

  it("counts as capped once its use would hold longer than the cap", async () => {
    expect(await extend({ rules: { maxHold: minutes(30) } })).toMatchObject({
      counted: [1, 1],
      expiresAt: at(30),
    });
  });

  it("counts as capped also where its one-shot comes only after the cap, so that a breather follows", async () => {
    expect(await extend({ rules: { maxHold: minutes(25) }, now: 26 })).toMatchObject({
      counted: [1, 1],
      expiresAt: at(25),
    });
  });

  it("takes no use for later than now", async () => {
    expect((await extend({ claims: [usedAt(90)] })).expiresAt).toEqual(at(40));
  });

  it.each<[string, Facts]>([
    ["none of its nodes was used", { claims: [] }],
    ["they were not used since", { claims: [usedAt(0)] }],
    [
      "only a replacement was used",
      {
        claims: [usedAt(15, { instance: "i-1" })],
        record: { replacements: [{ instance: "i-1", launchedAt: noon }] },
      },
    ],
    [
      "the node that was used is recognised as a replacement meanwhile",
      {
        claims: ({ holds }) => {
          const replacements = [{ instance: "i-1", launchedAt: noon }];
          for (const record of holds.records.values()) void holds.replace({ ...record, replacements });
          return [usedAt(15, { instance: "i-1" })];
        },
      },
    ],
    ["use cannot be read here", { claims: () => ({ unavailable: "too old" }) }],
  ])("ends where %s", async (_, facts) => {
    expect(await extend(facts)).toMatchObject({ counted: [0, 0], expiresAt: at(20), failed: undefined });
  });

  it("counts a right that is missing", async () => {
    const { metrics } = await extend({ claims: () => ({ unavailable: "no right", isMissingRight: true }) });
    expect(metrics.total("RightsMissing")).toBe(1);
  });
});

describe("use is not asked for", () => {
  it.each<[string, Facts]>([
    ["before the hold is due", { now: 19.9 }],
    ["where launches alone extend holds", { rules: { extendOn: "launches" } }],
    ["of a hold that is being released", { hold: { state: "releasing" } }],
    ["of a hold that no launch began", { hold: { burstFrom: undefined as never } }],
    ["at the cap", { rules: { maxHold: minutes(20) } }],
    ["of a hold of another setting of scope", { rules: { scope: "nodepool" } }],
    ["where nothing is held", { record: { hold: undefined as never } }],
  ])("%s", async (_, facts) => {
    expect(await extend(facts)).toMatchObject({ asked: [], failed: undefined });
  });

  it("is, below the cap and without one", async () => {
    for (const maxHold of [minutes(20) + 1, 0])
      expect((await extend({ rules: { maxHold } })).asked).toHaveLength(1);
  });
});

describe("a use that cannot be read this time", () => {
  const fails = (error: Error) => () => {
    throw error;
  };

  it("is asked for again for ten minutes; then the hold ends", async () => {
    const claims = fails(new Error("throttled"));
    expect((await extend({ claims, now: 29.9 })).failed).toBe("throttled");
    expect(await extend({ claims, now: 30 })).toMatchObject({ failed: undefined, expiresAt: at(20) });
  });

  it("ends the hold at once where the set-up is wrong", async () => {
    expect((await extend({ claims: fails(new BrokenSetupError("no such path")) })).failed).toBeUndefined();
  });
});

describe("with hold=auto", () => {
  const auto = { relaunchCost: minutes(10) };

  it("a short hold goes on while its nodes boot, and only then", async () => {
    const booting = { hold: { expiresAt: at(2) }, claims: [{ name: "a", createdAt: at(1) }], now: 2 };
    expect((await extend({ ...booting, rules: { auto } })).expiresAt).toEqual(at(3));
    expect((await extend(booting)).expiresAt).toEqual(at(2));
  });

  it("reports what was learned from the use", async () => {
    const learned = { gaps: [], debt: 0, idle: { since: at(5), nodes: 2, length: minutes(10) } };
    const { metrics, record } = await extend({ record: { learned }, rules: { auto, maxHold: hours(2) } });
    expect(metrics.all("IdleNodeMinutes")).toEqual([20]);
    expect(record?.learned?.gaps).toHaveLength(1);
  });
});
