import type { Duration } from "../../lambda/core/duration.ts";
import type { Terminal } from "../terminal/terminal.ts";

const clearScreen = "\u001b[H\u001b[2J";
/** Says whether to go on. */
const wait = (duration: Duration) =>
  new Promise<boolean>((resolve) => setTimeout(() => resolve(true), duration));

/**
 * Draws a picture again and again, in place where somebody watches, below each other for a file.
 * The first failure is told as such; later ones may pass and are shown where the picture was.
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
