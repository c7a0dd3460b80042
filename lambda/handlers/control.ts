import { BadInputError } from "../core/errors.ts";
import { checkLinks, type Inspection } from "../core/operate/check.ts";
import { holdByHand } from "../core/operate/hold-by-hand.ts";
import { forceRelease, pause, resume } from "../core/operate/release-by-hand.ts";
import { getStatus } from "../core/operate/status.ts";
import type { CallContext, Ports } from "../core/ports.ts";
import { type Scope, wholeCluster } from "../core/scope.ts";
import { version } from "../version.ts";
import { parseControlRequest } from "./requests.ts";

const reading: ReadonlySet<string> = new Set(["status", "check", "history", "probe"]);

/** Answers an operator's request with plain JSON. A holder without an inspection refuses `check`. */
export const onControlRequest =
  (ports: Ports, inspection?: Inspection) =>
  async (payload: unknown, call: CallContext): Promise<unknown> => {
    const context = { ...ports, ...call };
    const request = parseControlRequest(payload);
    // Also requests that change nothing in the end: their reason is logged nowhere else.
    if (!reading.has(request.do)) call.log.info("operator asked", request);
    switch (request.do) {
      case "status":
        return { ...(await getStatus(context)), version };
      case "check":
        if (!inspection)
          throw new BadInputError("This request cannot be done", ["this holder cannot be checked"]);
        return { ...(await checkLinks(context, inspection)), version };
      case "history":
        return { holds: await ports.journal.history(request.limit) };
      case "probe":
        return { probe: (await ports.journal.findProbe(request.id)) ?? null };
      case "hold": {
        const reason = `held by hand: ${request.reason}`;
        const asked = { for: request.for ?? ports.rules.hold, reason, cause: "hand" } as const;
        return holdByHand(context, scopeToHold(ports, request.scope), asked);
      }
      case "release":
        return forceRelease(context, request);
      case "pause":
        return pause(context, request);
      case "resume":
        return resume(context, request.scope);
    }
  };

function scopeToHold(ports: Ports, asked: Scope | undefined): Scope {
  if (asked) return asked;
  if (ports.rules.scope === "cluster") return wholeCluster;
  throw new BadInputError("Cannot hold", [
    'scope is missing: this deployment holds by NodePool, so name "nodepool/NAME"',
  ]);
}
