import { Exit } from "./exit-codes.ts";
import { outliveReader } from "./terminal.ts";

/** Settles when somebody asks the process to stop; who asks twice does not want to wait. Until then no reader ends it by leaving. */
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
