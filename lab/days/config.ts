import { type Arm, type Budget, baseBudgets, type Disruption } from "./arms.ts";
import { poolsOf, type Trace } from "./traces/trace.ts";
import type { InstanceType } from "./worlds.ts";

/** What the engine is started with; times in seconds. */
export type EngineConfig = Readonly<{
  trace: Omit<Trace, "driftAlone">;
  seed: number;
  /** Services run for this long before anything counts, so that a hold of their first launches has ended. */
  warmup: number;
  start: string;
  pools: readonly PoolConfig[];
  instanceTypes: readonly InstanceType[];
  boot: readonly [least: number, most: number];
  imagePull: readonly [least: number, most: number];
  holder?: Readonly<{ launchEventDelay: readonly [least: number, most: number] }>;
}>;

export type PoolConfig = Readonly<{
  name: string;
  consolidateAfter: string;
  consolidationPolicy: NonNullable<Disruption["consolidationPolicy"]>;
  budgets: readonly Budget[];
  types: readonly string[];
}>;

/** A Monday. */
const start = "2026-11-23T00:00:00Z";
const driftAlone: Budget = { nodes: "0", reasons: ["Empty", "Underutilized"] };

export type RunOptions = Readonly<{ trace: Trace; arm: Arm; types: readonly InstanceType[]; seed: number }>;

/** The NodePool of Jobs that are kept apart. */
const apart = "jobs-apart";

/** What the owners of Jobs do for them. */
const careFor = ({ jobs }: Arm) =>
  jobs === "marked" ? ({ doNotDisrupt: true } as const) : jobs === "apart" ? { pool: apart } : {};

/**
 * Where the nodes of pods that name no NodePool are launched: of NodePools of equal weight Karpenter takes the last by name.
 * Beside Jobs that are kept apart services must name it, or they would run in the NodePool of the Jobs.
 */
const poolOfOthers = (trace: Trace) =>
  poolsOf({ ...trace, jobs: [] })
    .toSorted()
    .at(-1);

/** The configuration of one run: every NodePool of the trace has the arm's settings. */
export function engineConfig({ trace, arm, types, seed }: RunOptions): EngineConfig {
  const { driftAlone: isDriftAlone = false, ...played } = trace;
  const { consolidateAfter, consolidationPolicy = "WhenEmptyOrUnderutilized", budgets = [] } = arm.disruption;
  const own = isDriftAlone ? [driftAlone] : budgets;
  const jobs = played.jobs.map((job) => ({ ...job, ...careFor(arm) }));
  const beside = arm.jobs === "apart" ? { pool: poolOfOthers(trace) } : {};
  const services = played.services.map((service) => ({ ...beside, ...service }));
  return {
    trace: { ...played, services, jobs },
    seed,
    warmup: 1_800,
    start,
    pools: poolsOf({ ...trace, jobs }).map((name) => ({
      name,
      consolidateAfter,
      consolidationPolicy: arm.jobs === "apart" && name === apart ? "WhenEmpty" : consolidationPolicy,
      budgets: [...baseBudgets, ...own],
      types: types.map((type) => type.name),
    })),
    instanceTypes: types,
    boot: [30, 90],
    imagePull: [2, 20],
    ...(arm.holder && { holder: { launchEventDelay: [0.5, 3] } }),
  };
}
