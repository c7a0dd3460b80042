import { cpus, totalmem } from "node:os";
import { version } from "../../lambda/version.ts";
import { leastCost } from "./bound.ts";
import { allWeights } from "./cost.ts";
import { EngineError, type EngineProcess } from "./engine-process.ts";
import { type Ended, playEngine } from "./play-engine.ts";
import type { RunResult } from "./result.ts";
import { type Prepared, prepare, type Spec } from "./spec.ts";
import { typesOf } from "./worlds.ts";

/** Plays one run, if its inputs still have this key; `onStart` receives the engine, so that it can be stopped. */
export async function playRun(
  spec: Spec,
  key: string,
  onProgress: (progress: unknown) => void,
  onStart: (engine: EngineProcess) => void,
): Promise<RunResult> {
  const prepared = await prepare(spec);
  if (prepared.key !== key)
    throw new Error("its trace or the sources have changed since the comparison began");
  const { config, arm } = prepared;
  const { karpenter } = spec;
  return resultOf(
    prepared,
    await playEngine({ karpenter, config, settings: arm.holder, onProgress, onStart }),
  );
}

function resultOf({ spec, trace, key }: Prepared, { result, holder }: Ended): RunResult {
  const { karpenter, ...counted } = result;
  if (karpenter !== spec.karpenter)
    throw new EngineError(`the engine runs Karpenter ${karpenter}, not ${spec.karpenter}`);
  const types = typesOf(spec.types);
  return {
    arm: spec.arm,
    karpenter,
    trace: spec.source.name,
    types: spec.types,
    seed: spec.seed,
    ...counted,
    bounds: allWeights.map((weights) => ({ ...weights, cost: leastCost(trace, types, weights.launch) })),
    ...(holder && { holder }),
    key,
    about: trace.about ?? "",
    lasts: trace.lasts,
    version,
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB`,
  };
}
