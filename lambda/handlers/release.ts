import type { ReleasePorts } from "../core/ports.ts";
import { forceRelease } from "../core/releases/force-release.ts";
import { type ReleaseAnswer, releaseNodes } from "../core/releases/release-nodes.ts";
import { parseReleaseRequest } from "./requests.ts";

/** A one-shot fired, or a hand forced it. */
export const onHoldExpired =
  (ports: ReleasePorts) =>
  async (payload: unknown, deadline: Date, id?: string): Promise<ReleaseAnswer> => {
    const request = parseReleaseRequest(payload);
    if (request.kind === "expired") return releaseNodes(ports, request.scope, request.holdId, deadline);
    const { scope, reason } = request;
    ports.log.info("operator asked", { do: "release", scope, reason });
    return forceRelease(ports, { ...request, id }, deadline);
  };
