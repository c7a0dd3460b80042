import { type Duration, formatDuration } from "../../lambda/core/duration.ts";
import { Exit } from "./exit-codes.ts";
import { outliveReader, type Terminal } from "./terminal.ts";

/** Settles on the first signal to stop; the second ends the process at once. A closed pipe does not stop it. */
export function untilStopped(): Promise<NodeJS.Signals> {
  outliveReader();
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => {
        process.on(signal, () => process.exit(Exit.failed));
        resolve(signal);
      });
    }
  });
}

/** Ends the process if it is still there by then. */
export function endAfter(limit: Duration, freeing: string, { notify }: Pick<Terminal, "notify">): void {
  setTimeout(() => {
    notify(`Failed: what was under way did not end within ${formatDuration(limit)}; nodes may stay held`);
    notify(`The next start continues it. This releases all nodes: ${freeing}`);
    process.exit(Exit.failed);
  }, limit).unref();
}
