import * as v from "valibot";
import { hours, minutes } from "../core/duration.ts";
import type { FollowUp, LaunchEvent } from "../core/ports.ts";
import { anyObject, fields, list, matching, parse, textAs } from "../schemas/parse.ts";
import { duration, line, moment, scope, wholeNumber } from "../schemas/values.ts";
import { probeSource } from "./event-sources.ts";

/** The content of a message in the launch queue. */
export type Message =
  | Readonly<{ kind: "launch"; launch: LaunchEvent }>
  | (Readonly<{ kind: "probe" }> & Probe)
  | Readonly<{ kind: "malformed probe" }>
  | Readonly<{ kind: "followUp"; followUp: FollowUp }>
  | (Readonly<{ kind: "hold" }> & TriggeredHold);

/** Parses the body of one queue message. */
export function parseMessage(body: unknown): Message {
  const envelope = parse("This message cannot be used", message, body, "the message");
  if ("followUp" in envelope) {
    const { followUp } = parse("This follow-up cannot be used", followUpEnvelope, envelope, "the message");
    return { kind: "followUp", followUp };
  }
  if ("hold" in envelope) {
    const { hold } = parse("This request to hold cannot be used", holdEnvelope, envelope, "the message");
    return { kind: "hold", ...hold };
  }
  if (envelope.source === probeSource) {
    // Whoever may put events on the bus can send one: as an error it would be retried, and raise an alarm.
    const { success, output } = v.safeParse(probeEnvelope, envelope);
    return success ? { kind: "probe", ...output.detail } : { kind: "malformed probe" };
  }
  const { detail, time } = parse("This event cannot be used", launchEnvelope, envelope, "the message");
  return { kind: "launch", launch: { instance: detail["instance-id"], launchedAt: time } };
}

const message = v.pipe(
  textAs<unknown>("JSON", (text) => {
    try {
      return JSON.parse(text);
    } catch {
      return undefined;
    }
  }),
  anyObject,
);

/*
{ "version": "0", "id": "7bf73129-…", "detail-type": "EC2 Instance State-change Notification", "source": "aws.ec2",
  "account": "123456789012", "time": "2026-01-31T09:30:00Z", "region": "eu-central-1",
  "resources": ["arn:aws:ec2:…"], "detail": { "instance-id": "i-0abcd1234ef567890", "state": "pending" } }
*/
const launchEnvelope = fields({
  source: v.literal("aws.ec2", '"aws.ec2"'),
  detail: fields({
    state: v.literal("pending", '"pending"'),
    "instance-id": matching(/^i-[0-9a-f]{8,32}$/, "an instance id like i-0abcd1234ef567890"),
  }),
  time: moment,
});

/*
{ "detail-type": "Karpenter Node Holder Probe", "source": "karpenter-node-holder.probe", "time": "2026-01-31T09:30:00Z", …,
  "detail": { "id": "5f1c…", "cluster": "prod", "sentAt": "2026-01-31T09:30:00.123Z" } }
*/
const probe = fields({
  id: matching(/^[\w-]{1,64}$/, "1 to 64 letters, digits or dashes"),
  sentAt: moment,
});
const probeEnvelope = fields({ detail: probe });
export type Probe = Readonly<v.InferOutput<typeof probe>>;

/*
{ "hold": { "cause": "event", "name": "Deployments", "for": "30m", "scope": "cluster", "reason": "Deployments (7bf73129-…)", "at": "2026-01-31T09:30:00Z" } }
*/
const triggeredHold = fields({
  cause: v.picklist(["event", "window"], "event or window"),
  name: line,
  // What this cause and the settings allow is decided later.
  for: duration(minutes(1), hours(24 * 90)),
  scope,
  reason: line,
  at: moment,
});
const holdEnvelope = fields({ hold: triggeredHold });
/** A request to hold for an event, or in a window. */
export type TriggeredHold = Readonly<v.InferOutput<typeof triggeredHold>>;

const launches = list(fields({ instance: matching(/^\S+$/, "text without spaces"), launchedAt: moment }));
const attempt = wholeNumber(1_000_000);

/*
{ "kind": "scope", "scope": "cluster", "isLook": false }
{ "kind": "launches", "launches": [{ … }], "firstSeenAt": "2026-01-31T09:30:01.000Z", "attempt": 1 }
*/
const followUpEnvelope = fields({
  followUp: v.pipe(
    anyObject,
    v.variant(
      "kind",
      [
        fields({ kind: v.literal("launches"), attempt, launches, firstSeenAt: moment }),
        // Those that an earlier version has sent have no such field.
        fields({ kind: v.literal("scope"), scope, isLook: v.optional(v.boolean("true or false"), false) }),
      ],
      '"launches" or "scope"',
    ),
  ),
});
