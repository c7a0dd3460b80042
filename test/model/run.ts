import { minutes } from "../../lambda/core/duration.ts";
import type { Command, Setting } from "./commands.ts";
import { Stage } from "./stage.ts";

/** Lets everything happen that the commands say, then lets the world come to rest. */
export async function play(setting: Setting, commands: readonly Command[]): Promise<void> {
  const stage = new Stage(setting);
  for (const command of commands) await stage.carryOut(command);
  await stage.settle();
  // Nothing is launched any more: every hold expires, at most twice for launches found late.
  for (let n = 0; n < 12 && !isQuiet(stage); n++) {
    await stage.pass(minutes(13));
    await stage.settle();
  }
  stage.watcher.atRest();
}

const isQuiet = ({ world }: Stage): boolean =>
  world.queue.messages.length === 0 && [...world.holds.records.values()].every(({ hold }) => !hold);
