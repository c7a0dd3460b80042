import type { CallContext, Ports } from "../core/ports.ts";
import { sweep } from "../core/sweep.ts";

/** Sweeps when the schedule fires; the event itself does not matter. */
export const onSweepDue =
  (ports: Ports) =>
  async (_event: unknown, context: CallContext): Promise<void> =>
    sweep({ ...ports, ...context });
