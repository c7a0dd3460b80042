import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duration } from "../../lambda/core/duration.ts";
import type { RawSettings } from "../../lambda/settings.ts";
import { buildLab } from "../../test/real/engines/build-lab.ts";
import type { EngineConfig } from "./config.ts";
import { EngineError, EngineProcess } from "./engine-process.ts";
import { runHolder } from "./holder/holder.ts";
import { LockStep } from "./holder/lock-step.ts";
import { type EngineResult, type HolderFigures, parseEngineResult } from "./result.ts";

type Options = Readonly<{
  karpenter: string;
  config: EngineConfig;
  /** The holder's; undefined where none runs. */
  settings: RawSettings | undefined;
  /** How late the holder's one-shots come; as in AWS if it is left out. */
  lateness?: () => Duration;
  onProgress?: (progress: unknown) => void;
  /** Receives the engine, so that it can be stopped. */
  onStart?: (engine: EngineProcess) => void;
}>;

/** What a run ended with. */
export type Ended = Readonly<{ result: EngineResult; holder?: HolderFigures }>;

/** Starts the engine of a version with a configuration, and plays it with a holder or with none. */
export async function playEngine(options: Options): Promise<Ended> {
  const { karpenter, config, settings, lateness, onProgress = () => {}, onStart = () => {} } = options;
  const program = await buildLab(karpenter);
  const folder = await mkdtemp(join(tmpdir(), "lab-"));
  try {
    const file = join(folder, "config.json");
    await writeFile(file, JSON.stringify(config));
    const engine = new EngineProcess({ program, args: ["-config", file] });
    onStart(engine);
    if (!settings) return { result: parseEngineResult(await new LockStep(engine).run(nobody, onProgress)) };
    const { result, holder } = await runHolder(engine, settings, onProgress, lateness);
    return { result: parseEngineResult(result), holder };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Without a holder no turn comes. */
const nobody = {
  play: () => Promise.reject(new EngineError("the engine waits for a holder that does not run")),
  next: () => undefined,
};
