import { describe, expect, it } from "vitest";
import { after, minutes } from "../../../lambda/core/duration.ts";
import { BrokenSetupError } from "../../../lambda/core/errors.ts";
import type { Hold, ScopeRecord } from "../../../lambda/core/holds/hold.ts";
import type { Context, NodeClaim, NodeClaims, Nodes } from "../../../lambda/core/ports.ts";
import { decideUse, findUse } from "../../../lambda/core/releases/decide-use.ts";
import { decideJoin, look } from "../../../lambda/core/releases/look.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import type { World } from "../../../simulator/world.ts";
import { aHold, aRecord, someRules } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

const at = (minute: number) => after(noon, minutes(minute));
const usedAt = (minute: number, about: Partial<NodeClaim> = {}): NodeClaim => ({
  name: "a",
  createdAt: noon,
  joinedAt: noon,
  lastPodEventAt: at(minute),
  ...about,
});

type Answer = Awaited<ReturnType<NodeClaims["ofScope"]>>;
type Facts = Readonly<{
  claims?: readonly NodeClaim[] | ((world: World) => Answer);
  hold?: Partial<Hold>;
  record?: Partial<ScopeRecord>;
  rules?: Partial<Rules>;
  now?: number;
  joined?: boolean | Error;
}>;

/** A hold for launches at noon, of which a node has joined, that is due at 12:20; asked at that moment. */
async function extend({
  claims = [usedAt(15)],
  hold = {},
  record = {},
  rules = {},
  now = 20,
  joined,
}: Facts = {}) {
  const held = aHold({ burstFrom: noon, ...(joined === undefined && { joined: true }), ...hold });
  const it = coreWorld({ records: [aRecord({ hold: held, ...record })], rules });
  it.world.time = at(now);
  const asked: unknown[] = [];
  const ofScope: NodeClaims["ofScope"] = async (scope) => {
    asked.push([scope]);
    return typeof claims === "function" ? claims(it.world) : claims;
  };
  const hasJoined: Nodes["hasJoined"] = async (scope, since) => {
    asked.push(["joined", scope, since]);
    if (joined instanceof Error) throw joined;
    return joined ?? false;
  };
  const context: Context = {
    ...it.context,
    nodes: { ...it.context.nodes, hasJoined },
    nodeClaims: { ...it.context.nodeClaims, ofScope },
  };
  const failed = await look(context, "cluster").then(
    () => undefined,
    (error: Error) => error.message,
  );
  const { metrics } = it;
  const counted = [metrics.total("HoldsExtendedByUse"), metrics.total("HoldsCapped")];
  return { asked, failed, counted, metrics, expiresAt: it.record()?.hold?.expiresAt, record: it.record() };
}

describe("a look", () => {
  it("extends from the last minute in which half of the burst nodes were used, also before the hold is due", async () => {
    const { asked, counted, expiresAt } = await extend({
      claims: [usedAt(15), usedAt(18), usedAt(16), usedAt(5)],
      now: 19,
    });
    expect({ asked, counted, expiresAt }).toEqual({
      asked: [["cluster"]],
      counted: [1, 0],
      expiresAt: at(35),
    });
  });

  it("remembers the largest burst that it saw, so that small use of what is left of it extends nothing", async () => {
    const { record, expiresAt } = await extend({ claims: [usedAt(5), usedAt(15), usedAt(17)] });
    expect([record?.hold?.burstNodes, expiresAt]).toEqual([3, at(20)]);
    expect((await extend({ hold: { burstNodes: 3 } })).expiresAt).toEqual(at(20));
  });

  it("leaves out nodes that have not joined: they may never", async () => {
    const unjoined = { name: "b", createdAt: noon };
    expect((await extend({ claims: [usedAt(15), unjoined, unjoined] })).expiresAt).toEqual(at(35));
    const older = usedAt(0, { joinedAt: at(-1.1) });
    expect((await extend({ claims: [usedAt(15), older, older] })).expiresAt).toEqual(at(35));
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

  it("counts a use in the future as a use now", async () => {
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
          for (const record of holds.records.values()) void holds.put({ ...record, replacements });
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

describe("the use of nodes is not read", () => {
  it.each<[string, Facts]>([
    ["where launches alone extend holds, once the hold is due", { rules: { extendOn: "launches" } }],
    ["of a hold that is being released", { hold: { state: "releasing" } }],
    ["of a hold that no launch began", { hold: { burstFrom: undefined as never } }],
    ["at the cap", { rules: { maxHold: minutes(20) } }],
    ["of a hold of another setting of scope", { rules: { scope: "nodepool" } }],
    ["where nothing is held", { record: { hold: undefined as never } }],
  ])("%s", async (_, facts) => {
    expect(await extend(facts)).toMatchObject({ asked: [], failed: undefined });
  });

  it("but is read below the cap and without a cap", async () => {
    for (const maxHold of [minutes(20) + 1, 0])
      expect((await extend({ rules: { maxHold } })).asked).toHaveLength(1);
  });
});

describe("a use that cannot be read this time", () => {
  const fails = (error: Error) => () => {
    throw error;
  };

  it("is read again for ten minutes; then the hold ends", async () => {
    const claims = fails(new Error("throttled"));
    expect((await extend({ claims, now: 29.9 })).failed).toBe("throttled");
    expect(await extend({ claims, now: 30 })).toMatchObject({ failed: undefined, expiresAt: at(20) });
  });

  it("is left to the next look while the hold is not due", async () => {
    const claims = fails(new Error("throttled"));
    expect(await extend({ claims, now: 19 })).toMatchObject({ failed: undefined, expiresAt: at(20) });
  });

  it("ends the hold at once where the set-up is wrong", async () => {
    expect((await extend({ claims: fails(new BrokenSetupError("no such path")) })).failed).toBeUndefined();
  });
});

describe("with hold=auto", () => {
  const rules = { auto: true };
  const three = (minute: number) => Array.from({ length: 3 }, () => usedAt(minute));

  it("a hold ends before it was to, when it no longer pays to keep half of its burst", async () => {
    const { record, counted } = await extend({ rules, claims: [usedAt(4)], now: 5 });
    expect(record?.hold).toMatchObject({ expiresAt: at(14), length: { length: minutes(10) }, extensions: 0 });
    expect(counted).toEqual([0, 0]);
  });

  it.each<[string, Facts, number]>([
    ["while its nodes boot", { claims: [{ name: "a", createdAt: at(9) }, usedAt(0)] }, 14],
    ["where somebody asked for it", { claims: three(0), hold: { causes: { hand: "a load test" } } }, 20],
  ])("it does not end earlier %s", async (_, facts, minute) => {
    expect((await extend({ rules, now: 11, ...facts })).expiresAt).toEqual(at(minute));
  });

  it("a hold is not made longer by what was learned alone, and a large burst is not narrowed", async () => {
    const dear = { auto: true, relaunchCost: minutes(40) };
    const spare = { name: "a", createdAt: at(0), joinedAt: at(0) };
    expect((await extend({ rules: dear, claims: [spare], now: 11 })).expiresAt).toEqual(at(20));
    const narrow = { hold: { narrowsAt: at(3) }, claims: three(4), now: 5 };
    expect((await extend({ rules, ...narrow })).record?.hold).not.toHaveProperty("narrowsAt");
  });

  it("a hold that had reached its cap may end before it, and is not capped any more", async () => {
    const hold = { expiresAt: at(30), capped: true, burstNodes: 1 };
    const { record } = await extend({
      rules: { auto: true, maxHold: minutes(30) },
      hold,
      claims: [usedAt(12)],
      now: 13,
    });
    expect(record?.hold).toMatchObject({ expiresAt: at(22), capped: false });
  });

  it("it waits no longer than a minute for the first use of a node that has joined", async () => {
    const spare = { name: "a", createdAt: at(9), joinedAt: at(9.5) };
    expect((await extend({ rules, claims: [spare, usedAt(0)], now: 11 })).expiresAt).toEqual(at(10.5));
  });

  it("it waits for nodes that boot, and that counts as no extension", async () => {
    const booting = { claims: [{ name: "a", createdAt: at(9) }], hold: { expiresAt: at(10) }, now: 10 };
    const { record, counted } = await extend({ rules, ...booting });
    expect(record?.hold).toMatchObject({ expiresAt: at(14), extensions: 0 });
    expect(counted).toEqual([0, 0]);
    expect((await extend(booting)).expiresAt).toEqual(at(10));
    const asked = { ...booting.hold, causes: { hand: "a load test" } };
    expect((await extend({ rules, ...booting, hold: asked })).expiresAt).toEqual(at(14));
  });

  it("use is read at each look", async () => {
    expect((await extend({ rules, now: 3 })).asked).toHaveLength(1);
  });
});

describe("a hold none of whose nodes has joined", () => {
  const young = { hold: { expiresAt: at(2), askedUntil: at(30) }, claims: [], joined: false } as const;

  it("looks once it is due for nodes that joined after one minute before its first launch", async () => {
    const asked = [["joined", "cluster", after(noon, -minutes(1))]];
    expect((await extend({ ...young, now: 2 })).asked).toEqual(asked);
    expect((await extend({ ...young, now: 1.9 })).asked).toEqual([]);
  });

  it.each([
    [2, 3],
    [4.5, 5],
    [5, 2],
  ])(
    "waits minute by minute, for five minutes from its first launch at most: at %s until %s",
    async (now, until) => {
      expect((await extend({ ...young, now })).expiresAt).toEqual(at(until));
    },
  );

  it("waits no longer with hold=auto, and its NodeClaims are not read", async () => {
    const rules = { auto: true };
    const { asked, expiresAt } = await extend({
      ...young,
      claims: [{ name: "a", createdAt: at(4) }],
      rules,
      now: 5,
    });
    expect([asked.length, expiresAt]).toEqual([1, at(2)]);
  });

  it.each([
    ["one has joined", true],
    ["that cannot be read: in doubt a launch is held for", new Error("throttled")],
  ])("lasts as long as launches asked meanwhile, where %s", async (_, joined) => {
    const { record } = await extend({ ...young, joined, now: 5 });
    expect(record?.hold).toEqual(
      aHold({ burstFrom: noon, joined: true, expiresAt: at(30), burstNodes: 0, kept: 0, keptAt: at(5) }),
    );
  });

  it.each([
    ["is over", aRecord(), "the hold is over"],
    ["is released", aRecord({ hold: aHold({ burstFrom: noon, state: "releasing" }) }), "the hold is over"],
    ["is another", aRecord({ hold: aHold({ burstFrom: noon, id: holdId(2) }) }), "the hold is over"],
    [
      "knows of its nodes",
      aRecord({ hold: aHold({ burstFrom: noon, joined: true }) }),
      "one of its nodes has joined",
    ],
  ])("is left alone when it %s by then", (_, record, because) => {
    const facts = { record, holdId: holdId(1), hasJoined: true, rules: someRules(), now: at(2) };
    expect(decideJoin(facts)).toMatchObject({ because });
    expect(decideJoin(facts)).not.toHaveProperty("record");
  });
});

const over = { action: "leave", because: "the hold is over" };

describe("a hold whose nodes were used", () => {
  const use = (
    minute: number,
    about: Partial<Hold> = {},
    rules: Partial<Rules> = {},
    claims: readonly NodeClaim[] = [usedAt(minute)],
  ) =>
    decideUse({
      record: aRecord({ hold: aHold(about) }),
      holdId: holdId(1),
      claims,
      rules: someRules(rules),
      now: at(minute + 1),
    });

  it("lasts from the last use on", () => {
    const causes = { uses: 1, usedAt: at(10) };
    const hold = aHold({ expiresAt: at(30), extensions: 1, burstNodes: 2, kept: 1, keptAt: at(11), causes });
    expect(use(10, { causes: {}, burstNodes: 2 })).toEqual({
      action: "extend",
      because: "its nodes are in use",
      used: { burstNodes: 2, usedNodes: 1, usedAt: at(10) },
      record: aRecord({ hold: { ...hold, narrowsAt: at(20) }, learned: expect.anything() }),
    });
  });

  it("protects only used nodes of a small burst from the time on until which launches protect all", () => {
    const narrowed = use(10, { narrowsAt: at(5) }).record?.hold;
    expect(narrowed).toMatchObject({ narrowsAt: at(5), expiresAt: at(30) });
    const three = Array.from({ length: 3 }, () => usedAt(10));
    expect(use(10, { narrowsAt: at(5) }, {}, three).record?.hold).not.toHaveProperty("narrowsAt");
    const asked = use(10, { causes: { hand: "a load test" } });
    expect(asked).toMatchObject({
      action: "leave",
      because: "its burst is small, and all nodes were asked for",
    });
  });

  it("ends at its cap, which is reported once", () => {
    expect(use(110, {}, { maxHold: minutes(120) })).toMatchObject({
      action: "cap",
      record: { hold: { expiresAt: at(120), capped: true } },
    });
    expect(use(110, { capped: true }, { maxHold: minutes(120) }).action).toBe("extend");
  });

  it.each([
    [[], "its nodes were not used"],
    [[usedAt(10)], "fewer than half of its nodes were used at once"],
  ])("says why it is not extended", (claims, because) => {
    expect(use(10, { burstNodes: 3 }, {}, claims)).toMatchObject({ action: "leave", because });
  });

  it("does not last longer for a use from before its last cause, and is not written again for it", () => {
    const because = "its nodes were not used late enough to extend it";
    expect(use(0)).toMatchObject({ action: "leave", because, record: { hold: { burstNodes: 1 } } });
    const { record } = use(0);
    const claims = [usedAt(0)];
    const again = { holdId: holdId(1), claims, rules: someRules(), now: at(5) };
    expect(decideUse({ ...again, record: record ?? aRecord() })).not.toHaveProperty("record");
  });

  it("is not changed when it is over or was replaced", () => {
    expect(use(10, { state: "releasing" })).toEqual(over);
    expect(use(10, { id: holdId(2) })).toEqual(over);
    const facts = { record: aRecord(), holdId: holdId(1), claims: [], rules: someRules(), now: at(10) };
    expect(decideUse(facts)).toEqual(over);
  });

  it("is learned from, also where it is not extended", () => {
    const { learned } = use(5, { expiresAt: at(30), burstNodes: 3 }).record ?? {};
    expect(learned?.idle).toEqual([{ nodes: 1, since: at(5) }]);
  });
});

describe("a use is as large as a burst", () => {
  const found = (burstNodes: number, ...minutesOfUse: number[]) => findUse(minutesOfUse.map(at), burstNodes);

  it.each([
    ["with half of the nodes within a minute, when it began", 4, [3, 4, 9], { usedNodes: 2, usedAt: at(3) }],
    ["not any longer for a small pod that follows it", 4, [2.9, 3, 3.8], { usedNodes: 3, usedAt: at(3) }],
    ["also where later use is small", 3, [3, 3, 9, 15], { usedNodes: 2, usedAt: at(3) }],
    ["not with less than half", 5, [3, 4], { usedNodes: 2 }],
    ["not with half in more than a minute", 4, [3, 4.1], { usedNodes: 1 }],
    ["not without use", 4, [], { usedNodes: 0 }],
  ])("%s", (_, burstNodes, uses, expected) => {
    expect(found(burstNodes, ...uses)).toEqual({ burstNodes, ...expected });
  });
});
