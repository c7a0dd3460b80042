import { BadInputError } from "../core/errors.ts";
import type { Inspection } from "../core/operate/check.ts";
import { holdAsAsked } from "../core/operate/hold.ts";
import { forceRelease, pause, releaseRequest, resume } from "../core/operate/release.ts";
import { getStatus } from "../core/operate/status.ts";
import type { CallContext, Ports } from "../core/ports.ts";
import { type Scope, wholeCluster } from "../core/scope.ts";
import { version } from "../version.ts";
import { answerCheck } from "./check.ts";
import { parseControlRequest, signed } from "./requests.ts";

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
        return answerCheck(ports, inspection, call);
      case "history":
        return { holds: await ports.journal.history(request.limit) };
      case "probe":
        return { probe: (await ports.journal.findProbe(request.id)) ?? null };
      case "hold": {
        const usual = Math.min(ports.rules.hold, ports.rules.maxRequest);
        const { name = "by-hand", reason, for: length = usual } = request;
        const asked = { name, for: length, reason, cause: "person" } as const;
        return holdAsAsked(context, oneScope(ports, request.scope, "hold"), asked);
      }
      case "release": {
        if (request.name === undefined) return forceRelease(context, { ...request, reason: signed(request) });
        return releaseRequest(context, {
          name: request.name,
          scope: oneScope(ports, request.scope, "release"),
        });
      }
      case "pause":
        return pause(context, { ...request, reason: signed(request) });
      case "resume":
        return resume(context, request.scope);
    }
  };

function oneScope(ports: Ports, asked: Scope | undefined, operation: "hold" | "release"): Scope {
  if (asked) return asked;
  if (ports.rules.scope === "cluster") return wholeCluster;
  throw new BadInputError(`Cannot ${operation}`, [
    'scope is missing: this deployment holds by NodePool, so name "nodepool/NAME"',
  ]);
}
