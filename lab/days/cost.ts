import type { EngineResult } from "./result.ts";
import { basePrice } from "./worlds.ts";

/** What a launch and an evicted pod are worth, in minutes of a node of 8 cores. */
export type Weights = Readonly<{ launch: number; eviction: number }>;

/** Nobody knows what a launch or an eviction costs others, so the comparison is made with several prices. */
export const allWeights: readonly Weights[] = [
  { launch: 1, eviction: 1 },
  { launch: 5, eviction: 3 },
  { launch: 5, eviction: 10 },
  { launch: 10, eviction: 10 },
];

/** The weights that the verdict and the picture use. */
export const usualWeights: Weights = { launch: 5, eviction: 3 };

export const weightsName = ({ launch, eviction }: Weights): string => `${launch}/${eviction}`;

/**
 * The time of nodes in minutes of a balanced node of 8 cores. Other nodes count by their price: by their cores, and less or
 * more where their family costs less or more.
 */
export const nodeTime = ({ price }: Pick<EngineResult, "price">): number => (60 * price) / basePrice;

/** Evicted pods of services, and killed pods of jobs, which lose the work that they had done. */
export const evictions = ({ evicted, jobsKilled }: Pick<EngineResult, "evicted" | "jobsKilled">): number =>
  evicted + jobsKilled;

/** What a run cost, in minutes of a node of 8 cores. A launch costs the same whatever the node's size. */
export const costOf = (
  result: Pick<EngineResult, "price" | "launched" | "evicted" | "jobsKilled">,
  { launch, eviction }: Weights,
): number => nodeTime(result) + launch * result.launched + eviction * evictions(result);
