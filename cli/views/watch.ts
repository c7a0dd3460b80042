import type { Duration } from "../../lambda/core/duration.ts";
import { clearScreen } from "../terminal/printable.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Returns whether to continue. */
const wait = (duration: Duration) =>
  new Promise<boolean>((resolve) => setTimeout(() => resolve(true), duration));

/**
 * Prints a view repeatedly: in place on a terminal, one after the other into a file.
 * The first failure ends it; later ones are shown in place of the view, because they may pass.
 */
export async function watch(
  picture: () => Promise<string>,
  every: Duration,
  { out, isWatched, style }: Pick<Terminal, "out" | "isWatched" | "style">,
  pause: (duration: Duration) => Promise<boolean> = wait,
): Promise<void> {
  const draw = (text: string) => out(isWatched ? `${clearScreen}${text}` : `${text}\n`);
  let last = await picture();
  draw(last);
  while (await pause(every)) {
    try {
      last = await picture();
      draw(last);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      draw(`${style("dim", last)}\n\n${style("red", `Could not ask: ${message}. Trying again.`)}`);
    }
  }
}
