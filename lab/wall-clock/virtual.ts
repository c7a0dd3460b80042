import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildLab, labVersions } from "../../test/real/engines/build-lab.ts";
import { armOf } from "../days/arms.ts";
import { type EngineConfig, engineConfig } from "../days/config.ts";
import { EngineProcess } from "../days/engine-process.ts";
import { runHolder } from "../days/holder/holder.ts";
import { LockStep } from "../days/holder/lock-step.ts";
import { type EngineResult, parseEngineResult } from "../days/result.ts";
import { traceOf } from "../days/traces/names.ts";
import type { InstanceType } from "../days/worlds.ts";
import type { Trial } from "./play.ts";

/** The nodes of the wall clock's cluster, as Karpenter's kwok provider makes them. */
const kwokTypes: readonly InstanceType[] = [2, 4].map((cpu) => ({
  name: `c-${cpu}x`,
  cpu,
  memory: `${2 * cpu}Gi`,
  pods: 16 * cpu,
  price: 0.019 * cpu,
  reservedCpu: "100m",
  reservedMemory: "10Mi",
}));

/** Plays what `playOnWallClock` plays, with the same nodes and times, on the virtual clock; `chance` is the engine's seed. */
export async function playInVirtualTime(trial: Trial, chance: number): Promise<EngineResult> {
  const folder = await mkdtemp(join(tmpdir(), "virtual-"));
  try {
    const config = join(folder, "config.json");
    await writeFile(config, JSON.stringify(configOf(trial, chance)));
    const program = await buildLab(trial.karpenter ?? labVersions[0] ?? "");
    const engine = new EngineProcess({ program, args: ["-config", config] });
    const settings = armOf(trial.arm)?.holder;
    const { result } = settings
      ? await runHolder(engine, settings, () => {})
      : { result: await new LockStep(engine).run(nobody, () => {}) };
    return parseEngineResult(result);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A cluster as fast as that on the wall clock, which begins with its services and pulls no images. */
function configOf({ trace: name, arm: armName, seed, share }: Trial, chance: number): EngineConfig {
  const arm = armOf(armName);
  if (!arm) throw new Error(`there is no arm ${armName}`);
  const trace = traceOf(name, seed);
  const config = engineConfig({
    trace: { ...trace, lasts: Math.round(trace.lasts * share) },
    arm,
    types: kwokTypes,
    seed: chance,
  });
  return {
    ...config,
    warmup: 25,
    boot: [2, 4],
    imagePull: [0, 0],
    holder: config.holder && { launchEventDelay: [0.1, 0.5] },
  };
}

/** Without a holder no turn comes. */
const nobody = {
  play: () => Promise.reject(new Error("the engine waits for a holder that does not run")),
  next: () => undefined,
};
