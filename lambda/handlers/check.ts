import * as v from "valibot";
import { type Checking, type CheckPorts, checkLinks } from "../core/operate/check.ts";
import type { CallContext } from "../core/ports.ts";
import { version } from "../version.ts";

const check = v.object({ do: v.literal("check") });

/**
 * Answers `{"do":"check"}`, and leaves everything else to the function itself. Each function is asked, because each has a
 * role, an environment and a network of its own.
 */
export const orCheck =
  <T>(
    ports: CheckPorts,
    inspection: Checking["inspection"],
    handle: (payload: unknown, call: CallContext) => Promise<T>,
  ) =>
  async (payload: unknown, call: CallContext): Promise<unknown> =>
    v.is(check, payload) ? answerCheck(ports, inspection, call) : handle(payload, call);

/** What a function finds out about itself, and its version. */
export async function answerCheck(
  ports: CheckPorts,
  inspection: Checking["inspection"],
  call: CallContext,
): Promise<unknown> {
  return { ...(await checkLinks({ ...ports, ...call }, { inspection, version })), version };
}
