import { Exit } from "./exit-codes.ts";
import { outliveReader } from "./terminal.ts";

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
