import { describe, expect, it } from "vitest";
import { after, minutes } from "../../../lambda/core/duration.ts";
import { TryAgainError } from "../../../lambda/core/errors.ts";
import { nothingReleased } from "../../../lambda/core/holds/end-hold.ts";
import type { Hold } from "../../../lambda/core/holds/hold.ts";
import type { Context, NodeClaim } from "../../../lambda/core/ports.ts";
import { decideLetGo, letNodesGo } from "../../../lambda/core/releases/let-go.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import { CollectedLog } from "../../../simulator/collected-log.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord, someRules } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

const at = (minute: number) => after(noon, minutes(minute));

/** The NodeClaim of a node that joined and was last used at these minutes. */
const node = (name: string, joined: number, used?: number, about: Partial<NodeClaim> = {}): NodeClaim => ({
  ...{ name: `claim-${name}`, node: name, createdAt: at(joined), joinedAt: at(joined) },
  ...(used !== undefined && { lastPodEventAt: at(used) }),
  ...about,
});
const drifted = (name: string, minute: number, used: number) =>
  node(name, -60, used, { driftedAt: at(minute) });

type Facts = Readonly<{
  claims: readonly NodeClaim[];
  hold?: Partial<Hold>;
  rules?: Partial<Rules>;
  unmarked?: readonly string[];
  busy?: readonly string[];
}>;

/** At 13:00, for a hold of 20 minutes that began at noon. */
function decide({ claims, hold = {}, rules = {}, unmarked = [], busy }: Facts) {
  const { letGo, markAgain } = decideLetGo({
    claims,
    hold: aHold({ burstFrom: noon, expiresAt: at(70), ...hold }),
    marked: new Set(claims.flatMap((claim) => claim.node ?? []).filter((name) => !unmarked.includes(name))),
    ...(busy && { busy: new Set(busy) }),
    rules: someRules(rules),
    now: at(60),
  });
  return { ...Object.fromEntries(letGo), again: [...markAgain] };
}

describe("a small burst, once only its use extends the hold,", () => {
  const claims = [node("used", 0, 50), node("quiet", 0, 40), node("base", -5, 59), node("new", 58)];

  it("keeps its own used nodes alone, and one that has just joined", () => {
    const others = { quiet: "small burst", base: "small burst" };
    expect(decide({ claims, hold: { narrowsAt: at(60) } })).toEqual({ ...others, again: [] });
  });

  it("protects all nodes until then, and where a third node of the burst has joined since", () => {
    expect(decide({ claims, hold: { narrowsAt: at(61) } })).toEqual({ again: [] });
    expect(decide({ claims, hold: { narrowsAt: at(60), burstNodes: 3 } })).toEqual({ again: [] });
  });
});

describe("an empty node", () => {
  const claims = [node("quiet", 0, 40), node("base", -60), node("used", 0, 41), node("joined", 41)];

  it("is let go when it was quiet for the length of the hold", () => {
    expect(decide({ claims, busy: [] })).toEqual({ quiet: "empty", base: "empty", again: [] });
    expect(decide({ claims, busy: ["quiet"] })).toEqual({ base: "empty", again: [] });
  });

  it("stays where pods may not be read", () => {
    expect(decide({ claims })).toEqual({ again: [] });
  });

  it("is quiet for as long as hold=auto has learned", () => {
    const learned = {
      length: minutes(30),
      action: "learned",
      because: "",
    } as const;
    const rules = { auto: true };
    expect(decide({ claims, busy: [], rules, hold: { length: learned } })).toEqual({
      base: "empty",
      again: [],
    });
  });
});

it("a node that boots is not let go, however short hold=auto holds", () => {
  const length = { length: 0, action: "learned", because: "" } as const;
  const claims = [node("boots", 56), node("old", 54), node("just-used", 0, 59.5), node("used", 0, 58)];
  const decided = decide({ claims, busy: [], rules: { auto: true }, hold: { length } });
  expect(decided).toEqual({ old: "empty", used: "empty", again: [] });
});

describe("a drifted node", () => {
  it("is let go after driftWait, used or not", () => {
    const claims = [drifted("waited", 40, 59), drifted("not-yet", 41, 0)];
    expect(decide({ claims })).toEqual({ waited: "drifted", again: [] });
    expect(decide({ claims: [node("young", 41, 59, { driftedAt: at(0) })] })).toEqual({ again: [] });
  });

  it("goes with a tenth of the marked nodes at each look, the ones that are quiet for longest first", () => {
    const drifting = [drifted("a", 0, 50), drifted("b", 0, 30), drifted("c", 0, 40), drifted("gone", 0, 10)];
    const others = Array.from({ length: 8 }, (_, index) => node(`other-${index}`, 0, 59));
    const claims = [...drifting, ...others];
    expect(decide({ claims, unmarked: ["gone"] })).toEqual({ b: "drifted", c: "drifted", again: [] });
  });

  it("is not held at all with driftWait=0s, and all the time with the cap or more", () => {
    const claims = [drifted("a", 60, 59), drifted("b", 60, 59)];
    expect(decide({ claims, rules: { driftWait: 0 } })).toEqual({ a: "drifted", b: "drifted", again: [] });
    const old = [drifted("a", -600, 59)];
    const rules = { driftWait: minutes(120), maxHold: minutes(120) };
    expect(decide({ claims: old, rules })).toEqual({ again: [] });
    expect(decide({ claims: old, rules: { ...rules, maxHold: 0 } })).toEqual({ a: "drifted", again: [] });
  });
});

describe("a node that was let go", () => {
  const unmarked = ["used", "quiet", "drifted", "base"];
  const claims = [
    ...[node("used", 0, 56), node("quiet", 0, 54)],
    ...[drifted("drifted", 0, 59), node("base", -60, 59)],
  ];

  it("is marked again once it is used again, but for one that drifted", () => {
    expect(decide({ claims, unmarked, hold: { marksFrom: at(55) } })).toEqual({ again: ["used", "base"] });
    expect(decide({ claims, unmarked })).toEqual({ again: [] });
  });

  it("is marked again by a small burst only where it belongs to it", () => {
    const hold = { marksFrom: at(55), narrowsAt: at(20) };
    expect(decide({ claims, unmarked, hold })).toEqual({ again: ["used"] });
  });
});

describe("a look", () => {
  const quietAndWaited = [node("quiet", 0, 10), node("waited", 0, 30, { driftedAt: at(35) })];

  /** At 13:00, with all of these nodes marked. `before` happens after they are listed, `meanwhile` while marks come off. */
  async function look({
    claims = quietAndWaited,
    hold = {},
    letGo = "empty",
    before,
    meanwhile,
    busy = new Set<string>(),
    failed = 0,
  }: Readonly<{
    claims?: readonly NodeClaim[];
    hold?: Partial<Hold>;
    letGo?: "empty" | "nothing";
    before?: Partial<Hold>;
    meanwhile?: Partial<Hold>;
    busy?: ReadonlySet<string> | { unavailable: string; isMissingRight: boolean } | Error;
    failed?: number;
  }> = {}) {
    const held = aHold({ burstFrom: noon, expiresAt: at(70), ...hold });
    const it = coreWorld({
      records: [aRecord({ hold: held })],
      rules: { letGo },
      marked: { failed },
    });
    it.world.time = at(60);
    const log = new CollectedLog();
    let lists = 0;
    const change = async (about: Partial<Hold> | undefined) => {
      const record = it.record();
      if (about && record?.hold) await it.world.holds.put({ ...record, hold: { ...record.hold, ...about } });
    };
    const context: Context = {
      ...it.context,
      log,
      pods: {
        limits: async () => [],
        busyNodes: async (names) => {
          it.calls.push(["busy", names]);
          if (busy instanceof Error) throw busy;
          return busy;
        },
      },
      nodes: {
        ...it.context.nodes,
        markedNodes: async () => {
          lists += 1;
          await change(before);
          return new Map([[held.id, ["quiet", "waited"]]]);
        },
        letGo: async (id, names) => {
          it.calls.push(["let go", id, [...names], it.record()?.hold?.marksFrom]);
          await change(meanwhile);
          return { ...nothingReleased, released: names.size };
        },
      },
    };
    await letNodesGo(context, "cluster", { claims, readAt: at(60) });
    return { ...it, hold: it.record()?.hold, lists, log };
  }

  it.each<[string, Parameters<typeof look>[0], lists: number]>([
    ["nothing where every node is used", { claims: [node("used", 0, 59)] }, 0],
    ["nothing where quiet nodes stay", { claims: [node("quiet", 0, 10)], letGo: "nothing" }, 0],
    ["the marked nodes where a quiet one may go", { claims: [node("quiet", 0, 10), node("used", 0, 59)] }, 1],
    ["them where one has waited", { claims: quietAndWaited, letGo: "nothing" }, 1],
    ["them where some were let go", { claims: [node("used", 0, 59)], hold: { marksFrom: at(50) } }, 1],
  ])("lists %s", async (_, facts, expected) => {
    expect((await look(facts)).lists).toBe(expected);
  });

  it("reads no pods, and names nodes with their reasons", async () => {
    const { calls, log } = await look({ letGo: "nothing" });
    expect(calls.map(([call]) => call)).toEqual(["mark", "let go"]);
    expect(log.reported("nodes let go")).toMatchObject([{ because: { drifted: 1 }, nodes: ["waited"] }]);
    expect(log.reported("used nodes are marked again")).toEqual([]);
  });

  it("only marks again where nothing goes", async () => {
    const used = { claims: [node("used", 0, 59)], hold: { marksFrom: at(50) } };
    const { calls, hold, log } = await look(used);
    expect(calls.slice(1)).toEqual([
      ["mark", "cluster", holdId(1), { joinedFrom: at(49), also: new Set(["used"]) }],
    ]);
    expect([hold?.marksFrom, log.reported("used nodes are marked again")]).toMatchObject([at(50), [{}]]);
  });

  it.each<[string, Partial<Hold>]>([
    ["a launch came", { launches: 9 }],
    ["a person asked for it", { causes: { hand: "a load test" } }],
    ["it ended", { state: "releasing" }],
    ["it gave way to another", { id: holdId(2) }],
  ])("takes no mark off where %s since its nodes were listed", async (_, before) => {
    const { calls, hold } = await look({ before });
    expect(calls.map(([call]) => call)).not.toContain("let go");
    expect(hold).not.toHaveProperty("marksFrom");
  });

  it("needs a hold", async () => {
    expect((await look({ hold: { state: "releasing" } })).lists).toBe(0);
  });

  it("marks the nodes that no pass has seen, notes its time, then lets quiet ones go whose pods it read", async () => {
    const { calls, hold, metrics } = await look({ hold: { letGo: 3 } });
    expect(calls).toEqual([
      ["busy", ["quiet", "waited"]],
      ["mark", "cluster", holdId(1)],
      ["let go", holdId(1), ["quiet", "waited"], at(60)],
    ]);
    expect([hold?.marksFrom, hold?.letGo, metrics.total("NodesLetGo")]).toEqual([at(60), 5, 2]);
  });

  it("lets no node go as empty without the right to list pods, and counts the missing right", async () => {
    const { calls, metrics } = await look({ busy: { unavailable: "no right", isMissingRight: true } });
    expect(calls.filter(([call]) => call === "let go")).toEqual([["let go", holdId(1), ["waited"], at(60)]]);
    expect(metrics.total("RightsMissing")).toBe(1);
  });

  it("lets no node go as empty when pods cannot be read, and goes on", async () => {
    const { calls } = await look({ busy: new TryAgainError("the API server is busy") });
    expect(calls.at(-1)).toEqual(["let go", holdId(1), ["waited"], at(60)]);
  });

  it("leaves a hold that is due to its end", async () => {
    expect((await look({ hold: { expiresAt: at(60) } })).calls).toEqual([]);
  });

  it("lets no node go while another could not be marked", async () => {
    const { calls, hold } = await look({ failed: 1 });
    expect([calls.at(-1), hold?.marksFrom]).toEqual([["mark", "cluster", holdId(1)], undefined]);
  });

  it("marks its nodes again when a launch came meanwhile and another look after that", async () => {
    const { calls } = await look({ meanwhile: { launches: 9, marksFrom: at(61) } });
    const also = new Set(["quiet", "waited"]);
    expect(calls.at(-1)).toEqual(["mark", "cluster", holdId(1), { joinedFrom: at(60), also }]);
  });

  it("marks all nodes again when a launch widened the hold while their marks were taken off", async () => {
    const { calls } = await look({ meanwhile: { marksFrom: undefined as never } });
    expect(calls.at(-1)).toEqual(["mark", "cluster", holdId(1)]);
  });

  it.each([
    ["ended", { state: "releasing" }],
    ["gave way to another", { id: holdId(2) }],
  ] as const)("marks nothing when the hold %s meanwhile", async (_, meanwhile) => {
    const { calls } = await look({ meanwhile });
    expect(calls.map(([call]) => call)).toEqual(["busy", "mark", "let go"]);
  });

  it.each([
    ["a person", { causes: { hand: "a load test" } }],
    ["an event", { causes: { event: "a deployment" } }],
    ["a window", { causes: { window: "every weekday" } }],
  ])("lets no node go where %s asked for the hold", async (_, hold) => {
    expect((await look({ hold })).calls).toEqual([]);
  });
});
