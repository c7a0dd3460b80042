import { BadInputError } from "../core/errors.ts";
import { forceRelease, type ReleaseAnswer, releaseDue } from "../core/operate/release.ts";
import type { CallContext, PassPorts } from "../core/ports.ts";
import { parseReleaseRequest, signed } from "./requests.ts";

/** Looks at a scope when its one-shot fires, or releases everything when an operator forces it. */
export const onRelease =
  (ports: PassPorts) =>
  async (payload: unknown, call: CallContext): Promise<ReleaseAnswer> => {
    const context = { ...ports, ...call };
    const request = parseReleaseRequest(payload);
    if (request.kind === "due") return releaseDue(context, request.scope);
    const { scope, reason, by } = request;
    call.log.info("operator asked", { do: "release", scope, reason, by });
    return forceRelease(context, { ...request, reason: signed(request), id: call.requestId });
  };

/**
 * The same for what EventBridge Scheduler sends. Whoever holds a function's credentials may create schedules, which
 * outlive the credentials: they must not be able to force a release.
 */
export const onOneShot =
  (ports: PassPorts) =>
  async (payload: unknown, call: CallContext): Promise<ReleaseAnswer> => {
    if (parseReleaseRequest(payload).kind === "force")
      throw new BadInputError("This release cannot be done", ["a schedule cannot force a release"]);
    return onRelease(ports)(payload, call);
  };
