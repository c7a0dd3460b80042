import { Exit } from "./exit-codes.ts";

/** Settles when somebody asks the process to stop; who asks twice does not want to wait. */
export function untilStopped(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.once(signal, () => {
        process.on(signal, () => process.exit(Exit.failed));
        resolve(signal);
      });
    }
  });
}
