import { describe, expect, it } from "vitest";
import { holdLabel } from "../../../lambda/core/marks/keys.ts";
import { getStatus } from "../../../lambda/core/operate/status.ts";
import { noFigures, type ScopeRecord } from "../../../lambda/core/record.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { aHeldRecord, aHold, aQuiet, aRecord, aRequest, aScopeStatus } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";
import { at } from "../plans.ts";

const batch = "nodepool/batch" as const;
const byPool = { scope: "nodepool" } as const;

/** A world with these records, and its status at noon or at another minute. */
function aWorld(records: readonly ScopeRecord[] = [], rules: Partial<Rules> = {}) {
  const it = coreWorld({ records, rules });
  const status = (minute = 0) => {
    it.world.time = at(minute);
    return getStatus(it.context());
  };
  const scopes = async (minute = 0) => (await status(minute)).scopes;
  return { ...it, status, scopes };
}

const marked = (world: ReturnType<typeof aWorld>["world"], names: readonly string[], id = holdId(1)) => {
  for (const name of names) {
    world.nodes.add(name);
    world.nodes.mark(name, id);
  }
};

describe("status", () => {
  it("shows a hold: its nodes by name, until when it lasts and why, and the settings", async () => {
    const figures = { ...noFigures, launches: { default: 2, batch: 1 }, extensions: 2 };
    const { world, status } = aWorld([aHeldRecord({ figures, looks: { oneShot: at(15) } })]);
    marked(world, ["b", "a"]);
    world.nodes.add("free");
    const annotated = (value: string) => ({ annotations: { [world.settings.holdAnnotation]: value } });
    world.nodes.add("users", annotated("true"));
    world.nodes.add("handed-over", { ...annotated("true"), labels: { [holdLabel]: "never" } });
    for (const value of ["false", "30m"]) world.nodes.add(`with-${value}`, annotated(value));
    await world.journal.noteSweep(at(-3));
    const { rules, ...answer } = await status();
    expect(rules).toMatchObject({ cluster: "prod", hold: 20 * 60_000 });
    const held = aScopeStatus({
      ...{ state: "held", because: "3 launches in NodePools default (2), batch (1)", holdId: holdId(1) },
      ...{ since: at(0), until: at(20), launchesUntil: at(20), nextLook: at(15) },
      ...{ launches: 3, extensions: 2, nodesHeld: 2, nodes: ["a", "b"] },
    });
    const about = { cluster: "prod", at: at(0), nodesUserHeld: 2, lastSweep: at(-3), limits: [] };
    expect(answer).toEqual({ ...about, scopes: [held] });
  });

  it.each(["NodeClaims", "pods"])(
    "says that %s could not be read, and shows everything else",
    async (what) => {
      const { world, status } = aWorld([aHeldRecord()], { auto: true });
      marked(world, ["a"]);
      world.refuses = (call) => call === what.replace("NodeC", "c");
      const limits = [`${what} could not be read`];
      expect(await status()).toMatchObject({ limits, scopes: [{ state: "held", nodesHeld: 1 }] });
    },
  );

  it("shows each request with its own end, and no longer those that are released or over", async () => {
    const requests = [
      aRequest(),
      aRequest({ name: "deploys", cause: "event", reason: "deploy 7", until: at(90) }),
      aRequest({ name: "old", until: at(-1) }),
      aRequest({ name: "released", releasedAt: at(-1) }),
    ];
    const figures = { ...noFigures, launches: { default: 1 }, requests: ["load test", "deploy 7"] };
    const [shown] = await aWorld([aHeldRecord({ requests, figures })]).scopes();
    expect(shown).toMatchObject({
      because: "1 launch in NodePool default; load test; deploy 7",
      until: at(90),
      launchesUntil: at(20),
      requests: [
        { name: "load-test", cause: "person", reason: "load test", since: at(0), until: at(60) },
        { name: "deploys", cause: "event", reason: "deploy 7", since: at(0), until: at(90) },
      ],
    });
  });

  it.each([
    ["over, though its one-shot is still to come", aHeldRecord(), 21, "the hold expired"],
    [
      "ended, and whose marks are being removed",
      aRecord({ hold: aHold({ ended: { at: at(5), because: "paused by hand: x" } }) }),
      6,
      "paused by hand: x",
    ],
  ])("shows a hold as one that is being released when it is %s", async (_, record, minute, because) => {
    const { world, scopes } = aWorld([record]);
    marked(world, ["a"]);
    const [shown] = await scopes(minute);
    expect(shown).toMatchObject({ state: "releasing", because, holdId: holdId(1), nodesHeld: 1 });
    expect(shown).not.toHaveProperty("until");
    world.nodes.remove("a");
    const [released] = await scopes(minute);
    expect(released).toMatchObject({ state: "none", because, launches: 0, nodesHeld: 0 });
    for (const gone of ["until", "since", "holdId", "nextLook"]) expect(released).not.toHaveProperty(gone);
  });

  const breather = aQuiet("breather", { since: at(-5), until: at(5) });
  const { kind: _, ...ofBreather } = breather;
  it.each<[string, Partial<ScopeRecord>, Parameters<typeof aScopeStatus>[0]]>([
    ["nothing was launched", {}, {}],
    ["a pause is over at this moment", { quiet: aQuiet("paused", { since: at(-5), until: at(0) }) }, {}],
    ["a breather lasts", { quiet: breather }, { state: "breather", ...ofBreather }],
    [
      "a pause lasts for a while",
      { quiet: aQuiet("paused") },
      { state: "paused", because: "paused by hand: upgrade", since: at(0), until: at(10) },
    ],
  ])("distinguishes why nothing is held: %s", async (_, record, expected) => {
    const [shown] = await aWorld([aRecord(record)]).scopes();
    expect(shown).toEqual(aScopeStatus(expected));
  });

  it("shows a NodePool as paused with the whole cluster, until the longer pause ends", async () => {
    const own = aRecord({ scope: batch, quiet: aQuiet("paused", { until: at(5) }) });
    const { scopes } = aWorld([own, aRecord({ quiet: aQuiet("paused", { until: at(30) }) })], byPool);
    expect(await scopes()).toMatchObject([
      { scope: "cluster", state: "paused", until: at(30) },
      { scope: batch, state: "paused", until: at(30) },
    ]);
  });

  it("shows of a scope that the settings keep no more only what still counts", async () => {
    const namesOf = async (whole: Partial<ScopeRecord>) =>
      (await aWorld([aRecord({ scope: batch }), aRecord(whole)], byPool).scopes()).map(({ scope }) => scope);
    expect(await namesOf({ hold: aHold() })).toEqual(["cluster", batch]);
    expect(await namesOf({ quiet: aQuiet("paused") })).toEqual(["cluster", batch]);
    expect(await namesOf({ quiet: aQuiet("paused", { until: at(-1) }) })).toEqual([batch]);
    expect(await namesOf({})).toEqual([batch]);
    // With scope=cluster a launch holds the nodes of a NodePool that was paused before.
    const paused = aRecord({ scope: batch, quiet: aQuiet("paused") });
    expect(await aWorld([aRecord(), paused]).scopes()).toMatchObject([{ scope: "cluster", state: "none" }]);
  });

  it("shows neither requests nor a pause of a NodePool that the settings leave out", async () => {
    const requests = [aRequest()];
    const released = aHold({ ended: { at: at(0), because: "over" } });
    const left = aRecord({ scope: batch, hold: released, requests, quiet: aQuiet("paused") });
    expect(await aWorld([left]).scopes()).toMatchObject([{ scope: batch, state: "none", requests: [] }]);
    const except = { nodePools: { only: [], except: ["batch"] } };
    const { scopes } = aWorld([aRecord({ scope: batch, requests })], { ...byPool, ...except });
    expect(await scopes()).toMatchObject([{ because: "the settings leave it out", requests: [] }]);
  });

  it("shows of the whole cluster with scope=nodepool its pause, and neither its requests nor a breather", async () => {
    const shown = async (kind: "paused" | "breather") => {
      const whole = aRecord({ requests: [aRequest()], quiet: aQuiet(kind) });
      return (await aWorld([whole], byPool).scopes()).map(({ state, requests }) => [state, requests]);
    };
    expect(await shown("paused")).toEqual([["paused", []]]);
    expect(await shown("breather")).toEqual([]);
  });

  it("counts the nodes with the mark of no recorded hold, and those of no other one", async () => {
    const { world, status } = aWorld([aHeldRecord()]);
    marked(world, ["a"]);
    expect(await status()).not.toHaveProperty("nodesOrphaned");
    marked(world, ["b", "c"], holdId(2));
    expect(await status()).toMatchObject({ nodesOrphaned: 2, scopes: [{ nodesHeld: 1 }] });
  });

  it("counts no node as held whose user has removed the annotation alone", async () => {
    const { world, scopes } = aWorld([aHeldRecord()]);
    marked(world, ["a", "b"]);
    world.nodes.edit("a", "annotations", world.settings.holdAnnotation, undefined);
    expect(await scopes()).toMatchObject([{ nodesHeld: 1, nodes: ["b"] }]);
    // Its label is still to be removed.
    world.nodes.remove("b");
    expect(await scopes(21)).toMatchObject([{ state: "releasing", nodesHeld: 0 }]);
  });

  it("names at most 50 nodes and counts all", async () => {
    const { world, scopes } = aWorld([aHeldRecord()]);
    const names = Array.from({ length: 60 }, (_, n) => `node-${n + 10}`);
    marked(world, names.toReversed());
    expect(await scopes()).toMatchObject([{ nodesHeld: 60, nodes: names.slice(0, 50) }]);
  });

  it("changes nothing, and says what cannot be read", async () => {
    const { world, status } = aWorld([aHeldRecord()]);
    marked(world, ["a"]);
    world.nodeClaims.refusedWith = 403;
    expect((await status(30)).limits).toEqual([expect.stringMatching(/^the holder may not list NodeClaims/)]);
    expect(world.calls.filter((call) => /^(write|patch|arm|enqueue|remember)/.test(call))).toEqual([]);
  });

  it("fails where the nodes cannot be read: an empty answer would say that nothing is held", async () => {
    const { world, status } = aWorld([aHeldRecord()]);
    world.refuses = (call) => call === "list";
    await expect(status()).rejects.toThrow("list was refused");
  });
});

describe("the nodes of a hold in status", () => {
  it("are those of its NodePool: drifted ones that launches leave alone, and whether one is booting", async () => {
    const { world, scopes } = aWorld(
      [aHeldRecord({ scope: batch }), aHeldRecord({ scope: "nodepool/web" })],
      byPool,
    );
    world.nodes.add("a", { pool: "batch" });
    world.nodes.add("b", { pool: "web" });
    world.nodeClaims.change("i-a", { driftedAt: at(-5) });
    world.ec2.launch({ pool: "web", joinsAfter: null });
    expect(await scopes()).toMatchObject([
      { scope: batch, drifted: 1, isAwaiting: false },
      { scope: "nodepool/web", drifted: 0, isAwaiting: true },
    ]);
    // Without NodeClaims it is unknown which node is that of a launch.
    world.nodeClaims.refusedWith = 403;
    expect(await scopes()).toMatchObject([{}, { isAwaiting: false }]);
  });

  it("are all held where somebody asked, drifted or not", async () => {
    const { world, scopes } = aWorld([aHeldRecord({ requests: [aRequest()] })]);
    world.nodes.add("a");
    world.nodeClaims.change("i-a", { driftedAt: at(-5) });
    expect(await scopes()).toMatchObject([{ drifted: 0 }]);
  });

  it("are counted as observed with mode=observe", async () => {
    const { world, scopes } = aWorld([aHeldRecord()], { mode: "observe" });
    for (const name of ["a", "b"]) world.nodes.add(name);
    expect(await scopes()).toMatchObject([{ nodesHeld: 0, nodesObserved: 2 }]);
    expect(await scopes(30)).toMatchObject([{ nodesObserved: 0 }]);
    const ofPool = aWorld([aHeldRecord({ scope: batch })], { ...byPool, mode: "observe" });
    for (const pool of ["batch", "web"]) ofPool.world.nodes.add(pool, { pool });
    expect(await ofPool.scopes()).toMatchObject([{ nodesObserved: 1 }]);
  });
});
