import { expect, it } from "vitest";
import { after, hours, minutes } from "../../../lambda/core/duration.ts";
import type { ScopeRecord } from "../../../lambda/core/holds/hold.ts";
import type { Context, Instance } from "../../../lambda/core/ports.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import { recoverMissedLaunches } from "../../../lambda/core/sweep/sweep.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aHold, aRecord } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

const at = (minute: number) => after(noon, minutes(minute));

type Facts = Readonly<{
  /** The unmarked nodes: what the cloud knows of their instances. */
  instances?: readonly Partial<Instance>[];
  nodePool?: string;
  rules?: Partial<Rules>;
  records?: readonly ScopeRecord[];
  deadline?: Date;
}>;

/** Recovers at noon on nodes without a mark; Karpenter's events name no replacement. */
async function recover({ instances = [{}], nodePool = "batch", deadline, ...facts }: Facts = {}) {
  const { context, world, metrics, queued } = coreWorld(facts);
  const known = instances.map((about, n) => ({
    id: `i-${n}`,
    launchedAt: at(-5),
    nodePool: "of the cloud",
    ...about,
  }));
  const asked: unknown[] = [];
  const here: Context = {
    ...context,
    ...(deadline && { deadline }),
    nodes: {
      ...context.nodes,
      joinedSince: async (since, which) => {
        asked.push(since, which);
        return known.map(({ id }) => ({ name: id, instance: id, nodePool, joinedAt: at(-4) }));
      },
    },
    launches: {
      ...context.launches,
      find: async (ids) => {
        asked.push(ids);
        return new Map(known.filter(({ id }) => id !== "unknown").map((one) => [one.id, one]));
      },
    },
    nodeClaims: { ...context.nodeClaims, replacements: async () => [] },
  };
  await recoverMissedLaunches(here);
  const holds = [...world.holds.records].flatMap(([scope, { hold }]) =>
    hold ? [[scope, hold.launches]] : [],
  );
  return { holds, asked, queued, missed: metrics.total("MissedLaunches") };
}

it("holds for young nodes without a mark as for launches, and counts them", async () => {
  const { holds, asked, missed, queued } = await recover({ instances: [{}, {}] });
  expect({ holds, missed, queued }).toEqual({ holds: [["cluster", 2]], missed: 2, queued: [] });
  expect(asked).toEqual([at(-20), "unmarked", ["i-0", "i-1"]]);
});

it("looks back for the longest hold, also when Karpenter's events about launches have expired", async () => {
  const auto = { auto: true, maxHold: hours(3) };
  expect((await recover({ rules: auto })).asked[0]).toEqual(at(-180));
  const instances = [{ launchedAt: at(-61) }];
  expect((await recover({ instances, rules: { hold: hours(2) } })).missed).toBe(1);
});

it("holds for each NodePool by the node's name for it", async () => {
  const { holds } = await recover({ rules: { scope: "nodepool" } });
  expect(holds).toEqual([["nodepool/batch", 1]]);
});

it.each<[string, Facts]>([
  ["its instance is unknown", { instances: [{ id: "unknown" }] }],
  ["the settings leave its NodePool out", { rules: { nodePools: { only: [], except: ["batch"] } } }],
  ["its initial delay is not over", { rules: { initialDelay: minutes(5) + 1 } }],
  ["no time is left", { deadline: noon }],
  ["it was launched before the watermark", { records: [aRecord({ launchesCountFrom: at(-4) })] }],
])("holds for no node where %s", async (_, facts) => {
  expect(await recover(facts)).toMatchObject({ holds: [], missed: 0 });
});

it("does not hold for an instance that Karpenter did not launch", async () => {
  const instances = [{ nodePool: undefined as never }, {}];
  expect(await recover({ instances })).toMatchObject({ holds: [["cluster", 1]], missed: 1 });
});

it("holds for a node whose initial delay is over at this moment", async () => {
  expect((await recover({ rules: { initialDelay: minutes(5) } })).missed).toBe(1);
});

it("counts no launch as missed that a hold knows", async () => {
  const record = aRecord({ hold: aHold({ startedAt: at(-5), expiresAt: at(20) }), lastLaunchAt: at(-5) });
  expect((await recover({ records: [record] })).missed).toBe(0);
});

it("counts a launch as missed that extends a hold", async () => {
  const record = aRecord({ hold: aHold({ startedAt: at(-15), expiresAt: at(5) }), lastLaunchAt: at(-15) });
  expect((await recover({ records: [record] })).missed).toBe(1);
});
