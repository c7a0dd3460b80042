import { minutes } from "../../lambda/core/duration.ts";
import type { Command, Setting } from "./commands.ts";
import { Stage } from "./stage.ts";

/** Runs the commands, then lets the world finish all work. */
export async function play(setting: Setting, commands: readonly Command[]): Promise<void> {
  const stage = new Stage(setting);
  for (const command of commands) await stage.carryOut(command);
  await stage.settle();
  // There are no more launches: every hold expires, at most twice when launches are found late.
  for (let n = 0; n < 12 && !isQuiet(stage); n++) {
    // A learned length may be hours.
    await stage.pass(minutes(13) * 2 ** Math.max(0, n - 4));
    await stage.settle();
  }
  stage.watcher.atRest();
}

const isQuiet = ({ world }: Stage): boolean =>
  world.queue.messages.length === 0 && [...world.holds.records.values()].every(({ hold }) => !hold);
