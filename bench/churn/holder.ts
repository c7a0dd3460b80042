import { formatDuration } from "../../lambda/core/duration.ts";
import type { Log } from "../../lambda/core/ports.ts";
import { readSettings } from "../../lambda/settings.ts";
import { type Run, startRun } from "../../local/run/run.ts";
import type { World } from "../../test/real/world.ts";
import type { Witness } from "./witness.ts";

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };

/** The holder as `run` starts it; its holds go into the same record. */
export async function startHolder(
  world: World,
  witness: Witness,
  hold: number,
  folder: string,
): Promise<Run> {
  const settings = readSettings({ cluster: "churn", hold: formatDuration(hold), sweepEvery: "1m" });
  const run = await startRun({ settings, config: world.plane.config("admin"), folder, log: silent });
  run.chronicle.follow((happening) => {
    if (happening.kind.startsWith("hold ")) witness.note(happening);
  });
  return run;
}
