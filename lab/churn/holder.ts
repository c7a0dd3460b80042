import { formatDuration } from "../../lambda/core/duration.ts";
import type { Log } from "../../lambda/core/ports.ts";
import { readSettings, type Settings } from "../../lambda/settings.ts";
import { type Run, startRun } from "../../local/run/run.ts";
import type { World } from "../../test/real/worlds/world.ts";
import type { Observer } from "./observer.ts";

/** The settings of a holder whose hold lasts so long in real time; refuses what no holder could be given. */
export const holderSettings = (hold: number): Settings =>
  readSettings({ cluster: "churn", hold: formatDuration(hold), sweepEvery: "1m" });

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };

/** The holder as `run` starts it; its holds go into the same record. */
export async function startHolder(
  world: World,
  observer: Observer,
  hold: number,
  folder: string,
): Promise<Run> {
  const run = await startRun({
    settings: holderSettings(hold),
    config: world.plane.config("admin"),
    folder,
    log: silent,
  });
  run.timeline.follow((event) => {
    if (event.kind.startsWith("hold ")) observer.note(event);
  });
  return run;
}
