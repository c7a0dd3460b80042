import type { Log } from "../../lambda/core/ports.ts";
import { type RawSettings, readSettings } from "../../lambda/settings.ts";
import { type Run, startRun } from "../../local/run/run.ts";
import type { World } from "../../test/real/worlds/world.ts";
import type { Observer } from "./observer.ts";

const silent: Log = { info: () => {}, warn: () => {}, error: () => {} };

type Options = Readonly<{
  world: World;
  observer: Observer;
  folder: string;
  settings: RawSettings;
}>;

/** Starts the holder as `run` does; its holds go into the same record. */
export async function startHolder({ world, observer, folder, settings }: Options): Promise<Run> {
  const run = await startRun({
    settings: readSettings({ cluster: "lab", ...settings }),
    config: world.plane.config("admin"),
    folder,
    log: silent,
  });
  run.timeline.follow((event) => {
    if (event.kind.startsWith("hold ")) observer.record(event);
  });
  return run;
}
