import type { CallContext, Ports } from "../core/ports.ts";
import { sweep } from "../core/sweep/sweep.ts";

/** A slow timer: whatever it says, everything is compared and repaired. */
export const onSweepDue =
  (ports: Ports) =>
  async (_event: unknown, context: CallContext): Promise<void> =>
    sweep({ ...ports, ...context });
