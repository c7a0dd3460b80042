import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { version } from "../../lambda/version.ts";
import { buildLab } from "../../test/real/engines/build-lab.ts";
import { leastCost } from "./bound.ts";
import { allWeights } from "./cost.ts";
import { EngineError, EngineProcess } from "./engine-process.ts";
import { runHolder } from "./holder/holder.ts";
import { LockStep } from "./holder/lock-step.ts";
import { parseEngineResult, type RunResult } from "./result.ts";
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
  const program = await buildLab(spec.karpenter);
  const folder = await mkdtemp(join(tmpdir(), "lab-"));
  try {
    const config = join(folder, "config.json");
    await writeFile(config, JSON.stringify(prepared.config));
    const engine = new EngineProcess({ program, args: ["-config", config] });
    onStart(engine);
    return resultOf(prepared, await play(engine, prepared, onProgress));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Played = Awaited<ReturnType<typeof runHolder>> | Readonly<{ result: unknown; holder?: undefined }>;

async function play(
  engine: EngineProcess,
  { arm }: Prepared,
  onProgress: (progress: unknown) => void,
): Promise<Played> {
  if (arm.holder) return runHolder(engine, arm.holder, onProgress);
  return { result: await new LockStep(engine).run(nobody, onProgress) };
}
/** Without a holder no turn comes. */
const nobody = {
  play: () => Promise.reject(new EngineError("the engine waits for a holder that does not run")),
  next: () => undefined,
};

function resultOf({ spec, trace, key }: Prepared, { result, holder }: Played): RunResult {
  const { karpenter, ...counted } = parseEngineResult(result);
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
    ...(holder && { holder: { ...holder, errors: [...holder.errors] } }),
    key,
    about: trace.about ?? "",
    lasts: trace.lasts,
    version,
    date: new Date().toISOString().slice(0, 10),
    machine: `${cpus().length} × ${cpus()[0]?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB`,
  };
}
