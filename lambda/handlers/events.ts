import { probeSource } from "../core/operate/probe.ts";
import type { FollowUp, LaunchEvent } from "../core/ports.ts";
import { wholeCluster } from "../core/scope.ts";
import { Fields } from "./fields.ts";

/** What a message in the launch queue says. */
export type Message =
  | Readonly<{ kind: "launch"; launch: LaunchEvent }>
  | Readonly<{ kind: "probe"; id: string; sentAt: Date }>
  | Readonly<{ kind: "followUp"; followUp: FollowUp }>;

/** Reads one queue message's body. */
export function parseMessage(body: unknown): Message {
  const fields = new Fields("This message cannot be used");
  const text = fields.text(body, "the body", "text", /^/);
  fields.end();
  const envelope = fields.object(parseJson(fields, text), "the message");
  fields.end();
  if ("followUp" in envelope) return { kind: "followUp", followUp: parseFollowUp(envelope.followUp) };
  if (envelope.source === probeSource) return parseProbe(envelope);
  return { kind: "launch", launch: parseLaunch(envelope) };
}

/*
{ "version": "0", "id": "7bf73129-…", "detail-type": "EC2 Instance State-change Notification", "source": "aws.ec2",
  "account": "123456789012", "time": "2026-01-31T09:30:00Z", "region": "eu-central-1",
  "resources": ["arn:aws:ec2:…"], "detail": { "instance-id": "i-0abcd1234ef567890", "state": "pending" } }
*/
function parseLaunch(envelope: Readonly<Record<string, unknown>>): LaunchEvent {
  const fields = new Fields("This event cannot be used");
  fields.text(envelope.source, "source", '"aws.ec2"', /^aws\.ec2$/);
  const detail = fields.object(envelope.detail, "detail");
  fields.text(detail.state, "detail.state", '"pending"', /^pending$/);
  const instance = fields.text(
    detail["instance-id"],
    "detail.instance-id",
    "an instance id like i-0abcd1234ef567890",
    instanceId,
  );
  const launchedAt = fields.date(envelope.time, "time");
  fields.end();
  return { instance, launchedAt };
}

/*
{ "detail-type": "Karpenter Node Holder Probe", "source": "karpenter-node-holder.probe", "time": "2026-01-31T09:30:00Z", …,
  "detail": { "id": "5f1c…", "cluster": "prod", "sentAt": "2026-01-31T09:30:00.123Z" } }
*/
function parseProbe(envelope: Readonly<Record<string, unknown>>): Message {
  const fields = new Fields("This probe cannot be used");
  const detail = fields.object(envelope.detail, "detail");
  const id = fields.text(detail.id, "detail.id", "1 to 64 letters, digits or dashes", /^[\w-]{1,64}$/);
  const sentAt = fields.date(detail.sentAt, "detail.sentAt");
  fields.end();
  return { kind: "probe", id, sentAt };
}

/*
{ "kind": "newcomers", "scope": "cluster", "attempt": 1, "awaited": [{ "instance": "i-0abcd…", "launchedAt": "2026-01-31T09:30:00.000Z" }] }
{ "kind": "launches", "launches": [{ … }], "firstHeardAt": "2026-01-31T09:30:01.000Z", "attempt": 1 }
*/
function parseFollowUp(value: unknown): FollowUp {
  const fields = new Fields("This follow-up cannot be used");
  const message = fields.object(value, "followUp");
  const attempt = fields.count(message.attempt, "followUp.attempt", 1_000_000);
  const heard = (item: unknown, path: string): LaunchEvent => {
    const launch = fields.object(item, path);
    const instance = fields.text(launch.instance, `${path}.instance`);
    return { instance, launchedAt: fields.date(launch.launchedAt, `${path}.launchedAt`) };
  };
  if (message.kind === "newcomers") {
    const scope = fields.scope(message.scope, "followUp.scope") ?? wholeCluster;
    const awaited = fields.list(message.awaited, "followUp.awaited", heard);
    fields.end();
    return { kind: "newcomers", scope, awaited, attempt };
  }
  fields.text(message.kind, "followUp.kind", '"launches" or "newcomers"', /^launches$/);
  const launches = fields.list(message.launches, "followUp.launches", heard);
  const firstHeardAt = fields.date(message.firstHeardAt, "followUp.firstHeardAt");
  fields.end();
  return { kind: "launches", launches, firstHeardAt, attempt };
}

const instanceId = /^i-[0-9a-f]{8,32}$/;

function parseJson(fields: Fields, body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    fields.refuse("the message", "JSON", body);
    return fields.end();
  }
}
