import { describe, expect, it } from "vitest";
import { after, minutes, seconds } from "../../../lambda/core/duration.ts";
import type { ScopeRecord } from "../../../lambda/core/holds/hold.ts";
import { holdForLaunches } from "../../../lambda/core/launches/handle-launches.ts";
import type { Context, Launch, Replacement } from "../../../lambda/core/ports.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import { holdId } from "../../../simulator/hold-ids.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aLaunch, aRecord } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

const at = (minute: number) => after(noon, minutes(minute));
const launch = (instance: string, about: Partial<Launch> = {}) =>
  aLaunch({ instance, launchedAt: at(-1), ...about });
const event = ({ instance, launchedAt }: Launch) => ({ instance, launchedAt });
const [a, b] = [launch("i-a"), launch("i-b")];

type Facts = Readonly<{
  records?: readonly ScopeRecord[];
  rules?: Partial<Rules>;
  replacements?: readonly Replacement[];
  firstSeenAt?: Date;
  attempt?: number;
}>;

/** Holds at noon for these launches. */
async function hold(
  launches: readonly Launch[],
  { replacements = [], firstSeenAt = at(-1), attempt = 2, ...facts }: Facts = {},
) {
  const it = coreWorld(facts);
  const context: Context = {
    ...it.context,
    nodeClaims: { ...it.context.nodeClaims, replacements: async () => replacements },
  };
  const end = holdForLaunches(context, launches, { firstSeenAt, attempt });
  const failed = await end.then(
    () => undefined,
    (error: Error) => error.message,
  );
  const counted = Object.fromEntries(it.metrics.values.map(({ name, value }) => [name, value]));
  return { ...it, failed, counted };
}
/** What waits for these nodes; the first marking of a hold that was there before is still to come. */
const pending = (awaited: readonly Launch[], attempt: 0 | 1) => ({
  followUp: {
    kind: "pendingNodes",
    scope: "cluster",
    awaited: awaited.map((one) => expect.objectContaining(event(one))),
    attempt,
  },
  delay: seconds(15),
});
const later = (launches: readonly Launch[], delay: number) => ({
  followUp: { kind: "launches", launches: launches.map(event), firstSeenAt: at(-1), attempt: 3 },
  delay,
});

it("hold a NodePool while the nodes of another are still being marked", async () => {
  const { context, record } = coreWorld({ rules: { scope: "nodepool", replacements: "hold" } });
  const { mark } = context.nodes;
  const { promise: slow, resolve: go } = Promise.withResolvers<void>();
  context.nodes.mark = async (what, call) => {
    if (what.scope === "nodepool/slow") await slow;
    else go();
    return mark(what, call);
  };
  const pools = ["slow", "other"].map((nodePool) => launch(`i-${nodePool}`, { nodePool }));
  await holdForLaunches(context, pools, { firstSeenAt: at(-1), attempt: 1 });
  expect([record("nodepool/slow"), record("nodepool/other")]).toMatchObject([{ hold: {} }, { hold: {} }]);
});

describe("launches", () => {
  it("start a hold: its one-shots are set, its nodes are marked, and pending nodes are awaited", async () => {
    const { calls, queued, counted } = await hold([a, b]);
    expect(calls).toEqual([
      ["arm", "cluster", holdId(1), at(1.25)],
      ["arm", "cluster", holdId(1), at(19)],
      ["mark", "cluster", holdId(1)],
    ]);
    expect(queued).toEqual([pending([a, b], 1)]);
    expect(counted).toMatchObject({ HoldsStarted: 1 });
    expect(counted).not.toHaveProperty("LaunchesIgnored");
  });

  it.each([
    ["that knows its one-shot sets none", { armedFor: at(10) }, []],
    ["without a one-shot sets it", {}, [1.25, 19].map((minute) => ["arm", "cluster", holdId(1), at(minute)])],
  ])("that extend a hold wait for their nodes; one %s", async (_, about, expected) => {
    const held = aHold({ startedAt: at(-10), expiresAt: at(10), ...about });
    const { calls, queued, counted } = await hold([a], { records: [aRecord({ hold: held })] });
    expect({ calls, queued, counted }).toEqual({
      calls: expected,
      queued: [pending([a], 0)],
      counted: { HoldsExtended: 1 },
    });
  });

  it("protect all nodes again at once where looks have let some go; the same launches again do not", async () => {
    const held = aHold({ startedAt: at(-10), expiresAt: at(10), armedFor: at(10) });
    const narrow = aRecord({ hold: { ...held, narrowsAt: at(-5), marksFrom: at(-4) } });
    const { calls, record } = await hold([a], { records: [narrow] });
    expect(calls).toEqual([["mark", "cluster", holdId(1)]]);
    expect(record()?.hold).toMatchObject({ launches: 2, expiresAt: at(19) });
    expect(record()?.hold).not.toHaveProperty("narrowsAt");
    expect((await hold([a], { records: [aRecord({ ...narrow, lastLaunchAt: at(-1) })] })).calls).toEqual([]);
  });

  it("count as capped when they reach the cap, and are not counted when the hold already lasts longer", async () => {
    const held = aHold({ startedAt: at(-10), expiresAt: at(5) });
    const records = [aRecord({ hold: held })];
    expect((await hold([a], { records, rules: { maxHold: minutes(20) } })).counted).toEqual({
      HoldsCapped: 1,
    });
    const longer = [aRecord({ hold: { ...held, expiresAt: at(60) } })];
    expect((await hold([a], { records: longer })).counted).toEqual({});
  });

  it("are counted as ignored when they change nothing", async () => {
    const { calls, queued, counted } = await hold([a, b], {
      records: [aRecord({ launchesCountFrom: noon })],
    });
    expect({ calls, queued, counted }).toEqual({ calls: [], queued: [], counted: { LaunchesIgnored: 2 } });
  });

  it("of one scope start a hold though those of another fail", async () => {
    const launches = ["a", "b"].map((nodePool) => launch(nodePool, { nodePool }));
    const it = coreWorld({ rules: { scope: "nodepool" } });
    it.world.holds.find = async (scope) => {
      if (scope === "nodepool/a") throw new Error("throttled");
      return it.world.holds.records.get(scope);
    };
    const context = { ...it.context, nodeClaims: { ...it.context.nodeClaims, replacements: async () => [] } };
    await expect(holdForLaunches(context, launches, { firstSeenAt: noon, attempt: 0 })).rejects.toThrow(
      "throttled",
    );
    expect(it.record("nodepool/b")?.hold).toBeDefined();
  });
});

describe("a replacement", () => {
  const replacements = [{ nodeClaim: "claim-a", instance: "i-a" }];

  it.each<[string, ScopeRecord[], object[]]>([
    ["is awaited while a hold runs", [aRecord({ hold: aHold() })], [pending([a], 0)]],
    ["is not awaited while a hold is released", [aRecord({ hold: aHold({ state: "releasing" }) })], []],
    ["is not awaited without a hold", [], []],
  ])("%s", async (_, records, expected) => {
    const { queued, calls, counted, failed } = await hold([a], { records, replacements });
    expect({ queued, calls, failed }).toEqual({ queued: expected, calls: [], failed: undefined });
    expect(counted).toEqual({ ReplacementsIgnored: 1 });
  });
});

describe("a launch that is unknown yet", () => {
  it("is judged again when its event can no longer be on its way", async () => {
    const young = [
      launch("i-a", { launchedAt: after(noon, -1_500) }),
      launch("i-b", { launchedAt: after(noon, -200) }),
    ];
    const { queued, calls } = await hold(young, { firstSeenAt: noon });
    const followUp = { ...later(young, 0).followUp, firstSeenAt: noon };
    expect({ queued, calls }).toEqual({ queued: [{ followUp, delay: 1_800 }], calls: [] });
  });
});
