import { describe, expect, it } from "vitest";
import { type Arm, armOf, arms, isAvailable } from "../../../lab/days/arms.ts";
import { engineConfig } from "../../../lab/days/config.ts";
import { colourOf } from "../../../lab/days/page/palette.ts";
import { prepare, type Spec, titleOf } from "../../../lab/days/spec.ts";
import { traceOf } from "../../../lab/days/traces/names.ts";
import { specsOf, wholeComparison } from "../../../lab/days/whole.ts";
import { instanceTypes, roomOf, typesOf, worlds } from "../../../lab/days/worlds.ts";
import { parseDuration } from "../../../lambda/core/duration.ts";
import { checkSettings } from "../../../lambda/settings.ts";

const configOf = (name: string, trace = "half-hour") => {
  const arm = armOf(name);
  if (!arm) throw new Error(name);
  return engineConfig({ trace: traceOf(trace, 1), arm, types: typesOf("four"), seed: 1 });
};

describe.each(arms)("the arm $name", ({ name, about, disruption, holder }) => {
  const { pools, holder: coupled } = configOf(name, "day");

  it("makes NodePools that Karpenter accepts, one for each that the trace names", () => {
    expect(pools.map((pool) => pool.name)).toEqual(["default", "memory"]);
    for (const { consolidateAfter, consolidationPolicy, budgets, types } of pools) {
      expect(parseDuration(consolidateAfter)).toBeDefined();
      expect(["WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"]).toContain(consolidationPolicy);
      expect(types.length).toBe(4);
      expect(budgets.length).toBeGreaterThan(0);
      for (const { nodes, schedule, duration, reasons = [] } of budgets) {
        expect(nodes).toMatch(/^\d+%?$/);
        // The CRD refuses a schedule without a duration, and the other way round.
        expect((schedule === undefined) === (duration === undefined)).toBe(true);
        if (schedule) expect(schedule).toMatch(/^6(-59\/30)? (\S+ ){3}\S+$/);
        if (duration) expect(parseDuration(duration)).toBeGreaterThan(0);
        expect(["Underutilized", "Empty", "Drifted"]).toEqual(expect.arrayContaining([...reasons]));
      }
    }
    expect(disruption.consolidateAfter).toBe(pools[0]?.consolidateAfter);
  });

  it("says beside which consolidateAfter it runs, also where that is 0s", () => {
    expect(about).toContain(`\`consolidateAfter: ${disruption.consolidateAfter}\``);
  });

  it("starts a holder with valid settings, or none", () => {
    expect(coupled !== undefined).toBe(holder !== undefined);
    if (holder) expect(checkSettings({ cluster: "lab", ...holder }).problems).toEqual([]);
  });
});

it("no two arms have one name or one colour", () => {
  expect(new Set(arms.map(({ name }) => name)).size).toBe(arms.length);
  expect(new Set(arms.map(({ name }) => colourOf(name))).size).toBe(arms.length);
});

it("the hourly budget lets empty nodes go at any time, and others in six minutes of each hour", () => {
  const closed = configOf("budget-hourly").pools[0]?.budgets.filter(({ nodes }) => nodes === "0");
  const rest = { schedule: "6 * * * *", duration: "54m" };
  expect(closed).toEqual([{ nodes: "0", reasons: ["Underutilized"], ...rest }]);
});

it("a trace with drift alone allows no other disruption, whatever the arm", () => {
  const config = configOf("budget-hourly", "roll");
  expect(config.pools[0]?.budgets).toContainEqual({ nodes: "0", reasons: ["Empty", "Underutilized"] });
  expect(config.trace).not.toHaveProperty("driftAlone");
});

it("names with other durations are arms, too, and other names are none", () => {
  expect(armOf("hold-100s")).toMatchObject({
    holder: { hold: "100s" },
    disruption: { consolidateAfter: "0s" },
  });
  expect(armOf("hold-5m-beside-1m")).toMatchObject({
    holder: { hold: "5m" },
    disruption: { consolidateAfter: "1m" },
  });
  expect(armOf("auto-2m-10s-beside-10m")).toMatchObject({
    disruption: { consolidateAfter: "10m" },
    holder: { hold: "auto", relaunchCost: "2m", evictionCost: "10s" },
  });
  expect(armOf("consolidate-after-90s")).toMatchObject({ disruption: { consolidateAfter: "90s" } });
  const budgetOf = (name: string) => armOf(name)?.disruption.budgets?.[0];
  expect(budgetOf("budget-every-1h")).toEqual(armOf("budget-hourly")?.disruption.budgets?.[0]);
  expect(budgetOf("budget-every-30m")).toMatchObject({ schedule: "6-59/30 * * * *", duration: "24m" });
  expect(budgetOf("budget-every-2h-beside-5m")).toMatchObject({ schedule: "6 */2 * * *", duration: "1h54m" });
  expect(armOf("budget-every-2h-beside-5m")).toMatchObject({ disruption: { consolidateAfter: "5m" } });
  expect(budgetOf("budget-closed-at-7-for-13h")).toMatchObject({ schedule: "0 7 * * *", duration: "13h" });
  for (const name of ["budget-closed-at-24-for-1h", "budget-closed-at-7-for-x", "budget-closed-at-7"])
    expect(armOf(name), name).toBeUndefined();
  for (const name of ["budget-every-6m", "budget-every-7m", "budget-every-90m", "budget-every-48h"])
    expect(armOf(name), name).toBeUndefined();
  for (const name of ["consolidate-after-5m-beside-1m", "hold-", "hold-5m-beside-x", "consolidate-after-x"])
    expect(armOf(name), name).toBeUndefined();
});

it("an arm of the holder may have another limit, once", () => {
  const { holder, disruption, about } = armOf("auto") as Arm;
  expect(armOf("auto-max-hold-4h")).toEqual({
    ...{ name: "auto-max-hold-4h", disruption, about: `${about}, \`maxHold=4h\`` },
    holder: { ...holder, maxHold: "4h" },
  });
  for (const name of ["budget-hourly-max-hold-1h", "auto-max-hold-x", "auto-max-hold-1h-max-hold-2h"])
    expect(armOf(name), name).toBeUndefined();
});

it("owners mark the pods of all Jobs, and of no service, beside any arm", () => {
  const [plain, marked] = ["budget-hourly", "budget-hourly-jobs-marked"].map((name) => configOf(name, "day"));
  const marks = (config = plain) => [
    new Set(config?.trace.jobs.map(({ doNotDisrupt }) => doNotDisrupt)),
    config?.trace.services,
  ];
  expect(marks(plain)[0]).toEqual(new Set([undefined, true]));
  expect(marks(marked)).toEqual([new Set([true]), plain?.trace.services]);
  expect(marked?.pools).toEqual(plain?.pools);
  expect(armOf("auto-jobs-marked")).toMatchObject({ holder: { hold: "auto" } });
  for (const name of ["x-jobs-marked", "auto-jobs-marked-jobs-apart"]) expect(armOf(name)).toBeUndefined();
});

it("owners keep all Jobs apart from services, in a NodePool where only empty nodes go", () => {
  const { trace, pools } = configOf("budget-hourly-jobs-apart", "day");
  expect(new Set(trace.jobs.map(({ pool }) => pool))).toEqual(new Set(["jobs-apart"]));
  expect(new Set(trace.services.map(({ pool }) => pool))).toEqual(new Set(["default", "memory"]));
  // Karpenter launches nodes for pods of any NodePool in the last one by its name, and that must not be the one of the Jobs.
  const [web] = configOf("budget-hourly-jobs-apart", "half-hour").trace.services;
  expect(web?.pool).toBe("default");
  expect(configOf("budget-hourly", "half-hour").trace.services[0]?.pool).toBeUndefined();
  expect(Object.fromEntries(pools.map((pool) => [pool.name, pool.consolidationPolicy]))).toEqual({
    default: "WhenEmptyOrUnderutilized",
    memory: "WhenEmptyOrUnderutilized",
    "jobs-apart": "WhenEmpty",
  });
  // A trace may have a NodePool named jobs itself, also for services.
  const own = { ...traceOf("half-hour", 1), drifts: [{ at: 60, pool: "jobs" }] };
  const arm = armOf("budget-hourly-jobs-apart") as Arm;
  const played = engineConfig({ trace: own, arm, types: typesOf("four"), seed: 1 });
  expect(played.trace.services[0]?.pool).toBe("jobs");
  expect(played.pools.find(({ name }) => name === "jobs")?.consolidationPolicy).toBe(
    "WhenEmptyOrUnderutilized",
  );
});

it("Balanced runs from 1.14 on", () => {
  expect(["1.13.0", "1.14.0", "1.15.0"].map((version) => isAvailable("balanced", version))).toEqual([
    false,
    true,
    true,
  ]);
  const specs = specsOf({
    ...{ sources: [{ kind: "name", name: "day" }], arms: ["balanced", "hold-20m"] },
    ...{ karpenter: ["1.15.0", "1.13.0"], types: ["one", "four"], seeds: [1, 2] },
  });
  expect(specs.filter(({ arm }) => arm === "balanced")).toHaveLength(1 * 2 * 2);
  expect(specs.filter(({ arm }) => arm === "hold-20m")).toHaveLength(2 * 2 * 2);
});

describe("the whole comparison", () => {
  const specs = wholeComparison(["1.15.0", "1.13.0", "1.9.0", "1.2.0"]);

  it("has three seeds of a day on the newest version and on 1.13, others once or twice, three kinds of work, and a week", () => {
    const runs = specs
      .filter(({ arm }) => arm === "budget-hourly")
      .map(({ source, types, karpenter, seed }) => `${source.name} ${types} ${karpenter} ${seed}`);
    const seeds = (count: number, title: string) =>
      Array.from({ length: count }, (_, i) => `${title} ${i + 1}`);
    expect(runs).toEqual([
      ...["1.15.0", "1.13.0"].flatMap((version) => seeds(3, `day one ${version}`)),
      ...["four", "families"].flatMap((types) => seeds(2, `day ${types} 1.15.0`)),
      ...["1.9.0", "1.2.0"].flatMap((version) => seeds(1, `day one ${version}`)),
      ...["bursts", "ci", "shrinking"].flatMap((work) => seeds(3, `${work} one 1.15.0`)),
      "week one 1.15.0 1",
    ]);
  });

  it("plays every arm, and the strongest rivals wherever the holder is played", () => {
    expect(new Set(specs.map(({ arm }) => arm))).toEqual(new Set(arms.map(({ name }) => name)));
    const titles = new Set(specs.map(titleOf));
    for (const spec of specs.filter(({ arm }) => arm === "auto"))
      for (const arm of ["budget-hourly", "budget-every-30m"])
        expect(titles).toContain(titleOf({ ...spec, arm }));
  });

  it("takes an hour on two cores at most, at 70 seconds of one core for each day", () => {
    const lasts = new Map(
      ["day", "week", "bursts", "ci", "shrinking"].map((name) => [name, traceOf(name, 1).lasts]),
    );
    const days = specs.map(({ source }) => (lasts.get(source.name) ?? Number.NaN) / 86_400);
    expect(days.reduce((sum, one) => sum + one, 0)).toBeLessThan(101.5);
  });
});

describe("the instance types", () => {
  it("of a world exist, and cost more the larger they are", () => {
    for (const world of worlds.keys()) expect(typesOf(world).length).toBeGreaterThan(0);
    for (const { name, cpu, price, memory } of instanceTypes.values()) {
      expect(price / cpu, name).toBeGreaterThan(0.04);
      expect(memory).toMatch(/^\d+Gi$/);
    }
  });

  it("leave room for pods beside the kubelet and the daemons", () => {
    const [type] = typesOf("m.2xlarge");
    if (!type) throw new Error("no type");
    const { cores, gib, pods } = roomOf(type, [{ name: "agent", cpu: "100m", memory: "1Gi" }]);
    expect(cores).toBeCloseTo(8 - 0.09 - 0.1);
    expect(gib).toBeCloseTo(32 - (355 + 58 * 11) / 1_024 - 1);
    expect(pods).toBe(57);
  });
});

describe("the key of a run", () => {
  const spec: Spec = {
    ...{ source: { kind: "name", name: "half-hour" }, arm: "hold-20m", karpenter: "1.15.0" },
    ...{ types: "four", seed: 1 },
  };
  const keyOf = async (change: Partial<Spec> = {}) => (await prepare({ ...spec, ...change })).key;

  it("is the same for the same inputs, and differs with each of them", async () => {
    const keys = await Promise.all([
      keyOf(),
      keyOf({ seed: 2 }),
      keyOf({ arm: "hold-20m-beside-30s" }),
      keyOf({ arm: "hold-10m-beside-30s" }),
      keyOf({ arm: "auto" }),
      keyOf({ arm: "consolidate-after-0s" }),
      keyOf({ types: "families" }),
      keyOf({ karpenter: "1.13.0" }),
      keyOf({ source: { kind: "name", name: "dense" } }),
    ]);
    expect(new Set(keys).size).toBe(keys.length);
    expect(await keyOf()).toBe(keys[0]);
  });

  it("is refused for a trace with a pod that fits on no node", async () => {
    await expect(prepare({ ...spec, types: "m.large" })).rejects.toThrow(
      "cannot be played with the types m.large",
    );
  });
});
