import { forceRelease, type ReleaseAnswer, releaseDue } from "../core/operate/release.ts";
import type { CallContext, PassPorts } from "../core/ports.ts";
import { parseReleaseRequest } from "./requests.ts";

/** Looks at a scope when its one-shot fires, or releases everything when an operator forces it. */
export const onHoldExpired =
  (ports: PassPorts) =>
  async (payload: unknown, call: CallContext): Promise<ReleaseAnswer> => {
    const context = { ...ports, ...call };
    const request = parseReleaseRequest(payload);
    if (request.kind === "expired") return releaseDue(context, request.scope);
    const { scope, reason } = request;
    call.log.info("operator asked", { do: "release", scope, reason });
    return forceRelease(context, { ...request, id: call.requestId });
  };
