import { forceRelease } from "../core/operate/release-by-hand.ts";
import type { CallContext, ReleasePorts } from "../core/ports.ts";
import { type ReleaseAnswer, releaseNodes } from "../core/releases/release.ts";
import { parseReleaseRequest } from "./requests.ts";

/** Releases a hold when its one-shot fires, or when an operator forces it. */
export const onHoldExpired =
  (ports: ReleasePorts) =>
  async (payload: unknown, call: CallContext): Promise<ReleaseAnswer> => {
    const context = { ...ports, ...call };
    const request = parseReleaseRequest(payload);
    if (request.kind === "expired") return releaseNodes(context, request.scope, request.holdId);
    const { scope, reason } = request;
    call.log.info("operator asked", { do: "release", scope, reason });
    return forceRelease(context, { ...request, id: call.requestId });
  };
