import * as v from "valibot";
import { hours, minutes } from "../core/duration.ts";
import { anyObject, fields, matching, onlyFields, optional, parse } from "../schemas/parse.ts";
import {
  callerPattern,
  duration,
  holdId,
  line,
  moment,
  requestName,
  scope,
  text,
  wholeNumber,
} from "../schemas/values.ts";

const reason = v.nullish(line, "no reason given");
/** Who asks, in the caller's own words: only CloudTrail can prove it. */
const by = optional(matching(callerPattern, "a name of 1 to 100 characters"));

/** The reason with who asked, as status and history show it. */
export const signed = ({ reason, by }: Readonly<{ reason: string; by?: string | undefined }>): string =>
  by === undefined ? reason : `${reason} (by ${by})`;

/*
{ "scope": "cluster", "holdId": "20260131t093000-k3f9ax" }
*/
const due = fields({ holdId: holdId(' (or send {"force": true} to release by hand)'), scope });
/*
{ "force": true, "reason": "…", "by": "ada", "scope": "nodepool/batch", "askedAt": "2026-01-31T09:30:00Z" }
*/
const forced = onlyFields({
  force: v.literal(true, "true"),
  reason,
  by,
  scope: optional(scope),
  askedAt: optional(moment),
});

/** A request to the release function: from a one-shot, or by hand. */
export type ReleaseRequest =
  | (Readonly<{ kind: "due" }> & Readonly<v.InferOutput<typeof due>>)
  | (Readonly<{ kind: "force" }> & Readonly<Omit<v.InferOutput<typeof forced>, "force">>);

const cannotRelease = "This release cannot be done";

export function parseReleaseRequest(payload: unknown): ReleaseRequest {
  if (typeof payload === "object" && payload !== null && "force" in payload) {
    const { force: _, ...request } = parse(cannotRelease, forced, payload, "the payload");
    return { kind: "force", ...request };
  }
  return { kind: "due", ...parse(cannotRelease, due, payload, "the payload") };
}

const optionalScope = optional(scope);
const why = { scope: optionalScope, reason, by };
const name = optional(requestName);
const requests = [
  onlyFields({ do: v.literal("status") }),
  onlyFields({ do: v.literal("check") }),
  onlyFields({ do: v.literal("history"), limit: v.optional(wholeNumber(1000), 20) }),
  onlyFields({ do: v.literal("probe"), id: text }),
  onlyFields({ do: v.literal("hold"), ...why, name, for: optional(duration(minutes(1), hours(24 * 90))) }),
  // Windows and events may have names that nobody may give by hand. Null is no name: without one everything is released.
  onlyFields({ do: v.literal("release"), ...why, name: v.optional(line) }),
  onlyFields({ do: v.literal("pause"), ...why, for: optional(duration(minutes(1), hours(24 * 90))) }),
  onlyFields({ do: v.literal("resume"), scope: optionalScope, by }),
] as const;
const names = requests.map(({ entries }) => entries.do.literal).join(", ");
const control = v.pipe(anyObject, v.variant("do", [...requests], names));

/** An operator's request to the control function. */
export type ControlRequest = Readonly<v.InferOutput<typeof control>>;

/*
{ "do": "hold", "name": "load-test", "for": "45m", "scope": "cluster", "reason": "load test" }
*/
export const parseControlRequest = (payload: unknown): ControlRequest =>
  parse("This request cannot be done", control, payload, "the payload");
