import { describe, expect, it } from "vitest";
import { after, hours, minutes } from "../../../lambda/core/duration.ts";
import type { ScopeRecord } from "../../../lambda/core/holds/hold.ts";
import { untilResumed } from "../../../lambda/core/holds/watermark.ts";
import { getLengths, getStatus } from "../../../lambda/core/operate/status.ts";
import type { Launch, NodeSeen } from "../../../lambda/core/ports.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aLaunch, aRecord, aSilence, someRules } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

const at = (minute: number) => after(noon, minutes(minute));
const pool = "nodepool/batch" as const;

type Facts = Readonly<{
  records?: readonly ScopeRecord[];
  rules?: Partial<Rules>;
  marked?: Readonly<Record<string, readonly string[]>>;
  launched?: readonly Launch[];
  joined?: readonly string[];
  lastSweep?: Date;
}>;

/** The status at noon where the cluster and the cloud show this; `asked` names the lists that were read. */
async function status({ marked = {}, launched = [], joined = [], lastSweep, ...facts }: Facts = {}) {
  const { context, world } = coreWorld(facts);
  if (lastSweep) await world.journal.noteSweep(lastSweep);
  const asked: string[] = [];
  const answer = await getStatus({
    ...context,
    nodes: {
      ...context.nodes,
      markedNodes: async () => new Map(Object.entries(marked)),
      countUserHeld: async () => 2,
      joinedSince: async (since, which) => {
        asked.push(`${which} nodes since ${since.toISOString()}`);
        const node = { nodePool: "default", joinedAt: noon };
        return joined.map((instance): NodeSeen => ({ ...node, name: instance, instance }));
      },
    },
    nodeClaims: {
      ...context.nodeClaims,
      limits: async () => {
        asked.push("limits");
        return ["no events"];
      },
    },
    pods: { ...context.pods, limits: async () => ["no pods"] },
    launches: {
      ...context.launches,
      since: async (since) => launched.filter((one) => one.launchedAt >= since),
    },
  });
  const [scope] = answer.scopes;
  return { answer, scope, asked };
}

describe("status", () => {
  it("shows a running hold, its nodes by name, and the settings", async () => {
    const hold = aHold({ launches: 3, extensions: 2, armedFor: at(15) });
    const marked = { [hold.id]: ["b", "a"] };
    const { answer } = await status({ records: [aRecord({ hold })], marked, lastSweep: at(-3) });
    expect(answer).toEqual({
      cluster: "prod",
      at: noon,
      rules: someRules(),
      nodesUserHeld: 2,
      lastSweep: at(-3),
      limits: ["no events"],
      scopes: [
        {
          scope: "cluster",
          state: "held",
          because: "3 launches in NodePool default",
          holdId: hold.id,
          since: noon,
          until: at(20),
          launches: 3,
          extensions: 2,
          capped: false,
          nextSchedule: at(15),
          nodesHeld: 2,
          nodes: ["a", "b"],
          awaited: 0,
        },
      ],
    });
  });

  it.each([
    [
      "that looks have let nodes go",
      { marksFrom: at(-3) },
      /; nodes were let go, last at 2026-11-21T11:57:00.000Z$/,
    ],
    [
      "that a small burst holds its own nodes alone",
      { narrowsAt: noon, marksFrom: at(-3) },
      /; only the used nodes of/,
    ],
    ["nothing of what comes later", { narrowsAt: at(1) }, /^3 launches in NodePool default$/],
  ])("says of a running hold %s", async (_, about, because) => {
    const { scope } = await status({ records: [aRecord({ hold: aHold({ launches: 3, ...about }) })] });
    expect(scope?.because).toMatch(because);
  });

  it("leaves out what is not known: a one-shot, a length, a sweep", async () => {
    const { answer, scope } = await status({ records: [aRecord({ hold: aHold() })] });
    expect(answer).not.toHaveProperty("lastSweep");
    expect(scope).toMatchObject({ nodesHeld: 0, nodes: [] });
    for (const unknown of ["nextSchedule", "length"]) expect(scope).not.toHaveProperty(unknown);
  });

  it("counts the nodes whose mark no recorded hold has, and of no others", async () => {
    const records = [aRecord({ hold: aHold({ id: holdId(1) }) })];
    const marked = { [holdId(1)]: ["a"], [holdId(2)]: ["b", "c"], [holdId(3)]: ["d"] };
    expect((await status({ records, marked })).answer.nodesOrphaned).toBe(3);
    expect((await status({ records, marked: { [holdId(1)]: ["a"] } })).answer).not.toHaveProperty(
      "nodesOrphaned",
    );
  });

  it("names at most 50 nodes and counts all", async () => {
    const nodes = Array.from({ length: 60 }, (_, n) => `node-${n + 10}`);
    const { scope } = await status({
      records: [aRecord({ hold: aHold() })],
      marked: { [holdId(1)]: nodes.toReversed() },
    });
    expect(scope).toMatchObject({ nodesHeld: 60, nodes: nodes.slice(0, 50) });
  });

  it.each([
    ["the hold expired", "the hold expired"],
    [undefined, ""],
  ])("of a hold that is being released gives the reason for its end: %s", async (endsBecause, because) => {
    const hold = aHold({ state: "releasing", ...(endsBecause && { endsBecause }) });
    const { scope } = await status({ records: [aRecord({ hold })] });
    expect(scope).toMatchObject({ state: "releasing", because });
  });

  it.each<[string, Partial<ScopeRecord>, object]>([
    ["nothing is held", {}, { state: "none", because: "no new launch that counts" }],
    [
      "a pause is over at this moment",
      { quiet: aSilence("paused"), launchesCountFrom: noon },
      { state: "none", because: "no new launch that counts" },
    ],
    [
      "a breather lasts",
      { quiet: aSilence("breather", at(-5)), launchesCountFrom: at(5) },
      { state: "breather", because: "a hold reached its cap", since: at(-5), until: at(5) },
    ],
    [
      "a pause lasts until it is resumed",
      { quiet: aSilence("paused"), launchesCountFrom: untilResumed },
      { state: "paused", because: "paused by hand: upgrade", since: noon },
    ],
    [
      "a pause lasts for a while",
      { quiet: aSilence("paused"), launchesCountFrom: at(5) },
      { state: "paused", because: "paused by hand: upgrade", since: noon, until: at(5) },
    ],
    [
      "a clock was ahead at a release by force",
      { launchesCountFrom: at(5) },
      { state: "none", because: "no new launch that counts" },
    ],
  ])("distinguishes why nothing is held: %s", async (_, record, expected) => {
    const { scope } = await status({ records: [aRecord(record)] });
    expect(scope).toEqual({ scope: "cluster", nodesHeld: 0, nodes: [], awaited: 0, ...expected });
  });

  it("shows NodePools paused with the whole cluster, and of the cluster's own record only what still counts", async () => {
    const rules = { scope: "nodepool" } as const;
    const shown = async (whole: Partial<ScopeRecord>) => {
      const { answer } = await status({ rules, records: [aRecord({ scope: pool }), aRecord(whole)] });
      return answer.scopes.map(({ scope, state }) => `${scope} ${state}`);
    };
    const paused = { quiet: aSilence("paused"), launchesCountFrom: at(5) } as const;
    expect(await shown(paused)).toEqual(["cluster paused", `${pool} paused`]);
    expect(await shown({ hold: aHold() })).toEqual(["cluster held", `${pool} none`]);
    expect(await shown({})).toEqual([`${pool} none`]);
  });

  it("shows the learned length of the scopes that are kept, and only with hold=auto", async () => {
    const rules = { scope: "nodepool", auto: true } as const;
    const records = [aRecord({ hold: aHold() }), aRecord({ scope: pool })];
    const { answer } = await status({ rules, records });
    expect(answer.scopes.map(({ lengths }) => lengths?.length)).toEqual([undefined, 1]);
    const [drawn, ...others] = await getLengths(coreWorld({ rules, records }).context);
    expect([drawn?.scope, drawn?.lengths.map(({ sizes }) => sizes), others]).toEqual([
      pool,
      ["any size"],
      [],
    ]);
    expect(await getLengths(coreWorld({ records }).context)).toEqual([]);
  });

  it.each([
    ["ignore", "use", "nothing", 2, ["no events"]],
    ["ignore", "launches", "nothing", 2, ["no events"]],
    ["hold", "use", "nothing", 2, ["no events"]],
    ["hold", "launches", "nothing", 2, []],
    ["hold", "launches", "nothing", 1, ["no events"]],
    ["hold", "launches", "empty", 2, ["no events", "no pods"]],
    ["ignore", "use", "empty", 2, ["no events", "no pods"]],
  ] as const)(
    "asks for limits where a setting needs rights: replacements=%s extendOn=%s letGo=%s driftWait=%sh",
    async (replacements, extendOn, letGo, wait, limits) => {
      const rules = { replacements, extendOn, letGo, driftWait: hours(wait) };
      const { answer, asked } = await status({ rules });
      expect(answer.limits).toEqual(limits);
      expect(asked).toEqual(limits.length > 0 ? ["limits"] : []);
    },
  );
});

describe("awaited instances in status", () => {
  const launched = ["a", "b", "c"].map((instance) => aLaunch({ instance, nodePool: "batch" }));
  const records = [aRecord({ scope: pool })];
  const rules = { scope: "nodepool" } as const;

  it("are those launched within ten minutes that have not joined, by scope", async () => {
    const old = aLaunch({ instance: "old", nodePool: "batch", launchedAt: at(-11) });
    const other = aLaunch({ instance: "other" });
    const { scope, asked } = await status({
      records,
      rules,
      launched: [...launched, old, other],
      joined: ["b"],
    });
    expect(scope).toMatchObject({ scope: pool, awaited: 2 });
    expect(asked).toContain(`all nodes since ${at(-10).toISOString()}`);
  });

  it("do not include a NodePool that the settings leave out", async () => {
    const nodePools = { only: [], except: ["batch"] };
    expect((await status({ records, rules: { ...rules, nodePools }, launched })).scope).toMatchObject({
      awaited: 0,
    });
  });

  it("need no list of nodes when nothing was launched", async () => {
    expect((await status({ records })).asked).toEqual(["limits"]);
  });
});
