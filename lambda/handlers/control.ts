import { BadInputError } from "../core/errors.ts";
import { checkLinks } from "../core/operate/check.ts";
import { dryRunOf } from "../core/operate/dry-run.ts";
import type { Inspection } from "../core/operate/inspection.ts";
import { holdByHand, pause, resume } from "../core/operate/operate.ts";
import { getStatus } from "../core/operate/status.ts";
import type { CallContext, Context, Nodes, Ports } from "../core/ports.ts";
import { forceRelease } from "../core/releases/force-release.ts";
import { type Scope, wholeCluster } from "../core/scope.ts";
import { version } from "../version.ts";
import { type Operation, parseControlRequest } from "./requests.ts";

const reading: ReadonlySet<string> = new Set(["status", "check", "history", "probe"]);

const causeNames = { hand: "held by hand", event: "held for an event", window: "held in a window" } as const;

/** What only some holders can do beside operating themselves. */
export type ControlOptions = Readonly<{
  inspection?: Inspection;
  /** Nodes whose changes the cluster checks and does not keep. */
  dryRunNodes?: Nodes;
}>;

/** An operator wants to know or to change something; every answer is plain JSON. */
export const onOperatorAsked =
  (ports: Ports, options: ControlOptions = {}) =>
  async (payload: unknown, call: CallContext): Promise<unknown> => {
    const context = { ...ports, ...call };
    const request = parseControlRequest(payload);
    // Also what changes nothing in the end: its reason is logged nowhere else.
    if (!reading.has(request.do)) call.log.info("operator asked", request);
    switch (request.do) {
      case "status":
        return { ...(await getStatus(context)), version };
      case "check":
        if (!options.inspection) throw notHere("be checked");
        return { ...(await checkLinks(context, options.inspection)), version };
      case "history":
        return { holds: await ports.journal.history(request.limit) };
      case "probe":
        return { probe: (await ports.journal.findProbe(request.id)) ?? null };
      case "dry run":
        if (!options.dryRunNodes) throw notHere("try a request");
        return { ...(await operate(dryRunOf(context, options.dryRunNodes), request.request)), dryRun: true };
      default:
        return operate(context, request);
    }
  };

/** Changes something. */
async function operate(context: Context, request: Operation): Promise<object> {
  switch (request.do) {
    case "hold": {
      const { cause, at } = request;
      const reason = `${causeNames[cause]}: ${request.reason}`;
      const wish = { for: request.for ?? context.rules.hold, reason, cause, at };
      return holdByHand(context, scopeToHold(context, request.scope), wish);
    }
    case "release":
      return forceRelease(context, request);
    case "pause":
      return pause(context, request);
    case "resume":
      return resume(context, request.scope);
  }
}

const notHere = (what: string) =>
  new BadInputError("This request cannot be done", [`this holder cannot ${what}`]);

function scopeToHold(ports: Ports, asked: Scope | undefined): Scope {
  if (asked) return asked;
  if (ports.rules.scope === "cluster") return wholeCluster;
  throw new BadInputError("Cannot hold", [
    'scope is missing: this deployment holds by NodePool, so name "nodepool/NAME"',
  ]);
}
