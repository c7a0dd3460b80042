import { type Duration, hours, minutes } from "../core/duration.ts";
import { holdIdPattern } from "../core/marks/hold-id.ts";
import type { Scope } from "../core/scope.ts";
import { Fields } from "./fields.ts";

/** What the release function may be asked: by its schedule, or by hand. */
export type ReleaseRequest =
  | Readonly<{ kind: "expired"; scope: Scope; holdId: string }>
  | Readonly<{ kind: "force"; reason: string; scope: Scope | undefined; askedAt: Date | undefined }>;

/*
{ "scope": "cluster", "holdId": "20260131t093000-k3f9ax" }, or by hand
{ "force": true, "reason": "…", "scope": "nodepool/batch", "askedAt": "2026-01-31T09:30:00Z" }
*/
export function parseReleaseRequest(payload: unknown): ReleaseRequest {
  const fields = new Fields("This release cannot be done");
  const request = fields.object(payload, "the payload");
  if ("force" in request) {
    if (request.force !== true) fields.refuse("force", "true", request.force);
    const reason = fields.optionalLine(request.reason, "reason") ?? "no reason given";
    const scope = fields.optionalScope(request.scope, "scope");
    const askedAt = fields.optionalDate(request.askedAt, "askedAt");
    fields.end();
    return { kind: "force", reason, scope, askedAt };
  }
  const holdId = fields.text(
    request.holdId,
    "holdId",
    'the id of a hold (or send {"force": true} to release by hand)',
    new RegExp(holdIdPattern),
  );
  const scope = fields.scope(request.scope, "scope");
  fields.end();
  return { kind: "expired", holdId, scope: scope ?? "cluster" };
}

/** What an operator may ask of the control function. */
export type ControlRequest =
  | Readonly<{ do: "status" | "check" }>
  | Readonly<{ do: "history"; limit: number }>
  | Readonly<{ do: "probe"; id: string }>
  | Readonly<{ do: "hold"; for: Duration | undefined; scope: Scope | undefined; reason: string }>
  | Readonly<{ do: "release"; scope: Scope | undefined; reason: string }>
  | Readonly<{ do: "pause"; for: Duration | undefined; scope: Scope | undefined; reason: string }>
  | Readonly<{ do: "resume"; scope: Scope | undefined }>;

const actions = ["status", "check", "history", "probe", "hold", "release", "pause", "resume"] as const;

/* { "do": "hold", "for": "45m", "scope": "cluster", "reason": "load test" } */
export function parseControlRequest(payload: unknown): ControlRequest {
  const fields = new Fields("This request cannot be done");
  const request = fields.object(payload, "the payload");
  const action = actions.find((one) => one === request.do);
  if (!action) fields.refuse("do", actions.join(", "), request.do);
  const scope = fields.optionalScope(request.scope, "scope");
  const reason = fields.optionalLine(request.reason, "reason") ?? "no reason given";
  const read = (): ControlRequest => {
    switch (action) {
      case "history":
        return {
          do: action,
          limit: request.limit === undefined ? 20 : fields.count(request.limit, "limit", 1000),
        };
      case "probe":
        return { do: action, id: fields.text(request.id, "id") };
      case "hold":
        return {
          do: action,
          for: fields.duration(request.for, "for", minutes(1), hours(24)),
          scope,
          reason,
        };
      case "pause":
        return {
          do: action,
          for: fields.duration(request.for, "for", minutes(1), hours(24 * 90)),
          scope,
          reason,
        };
      case "release":
        return { do: action, scope, reason };
      case "resume":
        return { do: action, scope };
      case "check":
        return { do: action };
      default:
        return { do: "status" };
    }
  };
  const answer = read();
  fields.end();
  return answer;
}
