import { describe, expect, it } from "vitest";
import { after, hours, minutes, seconds } from "../../../lambda/core/duration.ts";
import { BrokenSetupError } from "../../../lambda/core/errors.ts";
import { findDemand, mostRemembered } from "../../../lambda/core/launches/find-demand.ts";
import type { Launch, NodeClaims } from "../../../lambda/core/ports.ts";
import type { Rules } from "../../../lambda/core/rules.ts";
import { noon } from "../../../simulator/virtual-clock.ts";
import { aLaunch, aRecord } from "../../support/builders.ts";
import { coreWorld } from "../../support/core-world.ts";

const launchOf = (name: string) => aLaunch({ instance: `i-${name}` });
const [a, b, c] = [launchOf("a"), launchOf("b"), launchOf("c")] as const;
const scope = "cluster" as const;
const rememberedA = { instance: "i-a", launchedAt: noon, nodeClaim: "claim-a" };

type Answer = Awaited<ReturnType<NodeClaims["replacements"]>>;

/** What the holder finds when Karpenter's events read so, an hour later. */
function find(answer: () => Answer, about: Parameters<typeof aRecord>[0] = {}, rules: Partial<Rules> = {}) {
  const { context, record, metrics, world } = coreWorld({ records: [aRecord(about)], rules });
  world.clock.pass(hours(1));
  const asked: ReadonlySet<string>[] = [];
  const limits: Date[] = [];
  const replacements: NodeClaims["replacements"] = async (since, known, { deadline }) => {
    asked.push(known);
    limits.push(since, deadline);
    return answer();
  };
  const nodeClaims = { ...context.nodeClaims, replacements };
  const deadline = after(noon, hours(2));
  const of = async (launches: readonly Launch[] = [a, b]) =>
    findDemand({ ...context, deadline, nodeClaims, log: world.log }, { scope, launches, firstSeenAt: noon });
  return { of, asked, limits, record, metrics, world };
}

it("remembers each replacement with its NodeClaim, once", async () => {
  const { of, record, metrics } = find(() => [
    { nodeClaim: "claim-b", instance: "i-b" },
    { nodeClaim: "claim-c", instance: "i-c" },
    { nodeClaim: "claim-other", instance: "i-other" },
  ]);
  const found = await of([a, b, c]);
  expect(found).toMatchObject({ demand: [a], replacements: [b, c], unknown: [] });
  expect(record()?.replacements).toEqual([
    { instance: "i-b", launchedAt: noon, nodeClaim: "claim-b" },
    { instance: "i-c", launchedAt: noon, nodeClaim: "claim-c" },
  ]);
  expect(metrics.total("ReplacementsIgnored")).toBe(2);
});

it("asks for the events of new launches only, and names the NodeClaims that it knows", async () => {
  const { of, asked, metrics } = find(() => [], { replacements: [rememberedA] });
  expect(await of([a])).toMatchObject({ demand: [], replacements: [a] });
  expect(asked).toEqual([]);
  expect(await of([a, b])).toMatchObject({ demand: [b], replacements: [a] });
  expect(asked).toEqual([new Set(["claim-a"])]);
  expect(metrics.total("ReplacementsIgnored")).toBe(0);
});

it.each<[string, () => Answer, string, number]>([
  [
    "the cluster has not given the right",
    () => ({ unavailable: "may not list events", isMissingRight: true }),
    "may not list events",
    1,
  ],
  [
    "Karpenter is too old for it",
    () => ({ unavailable: "v0.31 writes no such event" }),
    "v0.31 writes no such event",
    0,
  ],
  [
    "the cluster refuses the request",
    () => {
      throw new BrokenSetupError("it has no such path");
    },
    "it has no such path",
    0,
  ],
  [
    "the events could not be read for an hour",
    () => {
      throw new Error("throttled");
    },
    "in doubt: Karpenter's events could not be read",
    0,
  ],
])(
  "takes every launch for demand where %s, logs why, and counts a missing right",
  async (_, answer, why, missing) => {
    const { of, world, metrics } = find(answer);
    expect(await of()).toMatchObject({ demand: [a, b], unknown: [] });
    expect(world.log.reported("launch judged")).toMatchObject([
      { kind: "demand", because: expect.stringContaining(why), instances: ["i-a", "i-b"] },
    ]);
    expect(metrics.total("RightsMissing")).toBe(missing);
  },
);

it("asks for the events since twenty minutes before the oldest launch, for fifteen seconds at most", async () => {
  const { of, limits } = find(() => []);
  await of([a, aLaunch({ instance: "i-old", launchedAt: after(noon, -minutes(3)) })]);
  expect(limits).toEqual([after(noon, -minutes(23)), after(noon, hours(1) + seconds(15))]);
});

describe("a launch that no event names any more, and that may be a forgotten replacement", () => {
  const launched = (minute: number, instance = "i-launched") =>
    aLaunch({ instance, launchedAt: after(noon, minutes(minute)) });
  /** As many replacements as a record remembers, launched at this minute. */
  const roll = (minute: number) =>
    Array.from({ length: mostRemembered }, (_, n) => launched(minute, `i-${n}`));

  it.each([
    ["is no demand", roll(50), 19, 0],
    ["is no demand where it is older than all that are remembered", roll(-10), -11, 0],
    ["is demand while its event would still be there", roll(50), 20, 1],
    ["is demand where all replacements since then are remembered", roll(-10), -10, 1],
    ["is demand where nothing was forgotten", roll(50).slice(1), 19, 1],
  ])("%s", async (_, replacements, minute, count) => {
    const { of, record } = find(() => [], { replacements });
    expect(await of([launched(minute)])).toMatchObject({ demand: { length: count }, unknown: [] });
    expect(record()?.replacements).toHaveLength(replacements.length);
  });
});

it("reads nothing where replacements hold, too", async () => {
  const { of, asked } = find(() => [{ nodeClaim: "claim-a", instance: "i-a" }], {}, { replacements: "hold" });
  expect(await of([a])).toMatchObject({ demand: [a], replacements: [], unknown: [] });
  expect(asked).toEqual([]);
});

it("reads nothing where there is no launch", async () => {
  const { of, asked } = find(() => []);
  expect(await of([])).toMatchObject({ demand: [], replacements: [], unknown: [] });
  expect(asked).toEqual([]);
});
