import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { BadInputError } from "../../lambda/core/errors.ts";
import { nodePoolIn } from "../../lambda/core/marks/keys.ts";
import { fileProblem } from "../../local/file-problem.ts";
import { fileText } from "../file-text.ts";
import type { InstanceEvent } from "./lives.ts";

type Json = Readonly<Record<string, unknown>>;

/** Calls that launch and terminate instances; a fleet's launch appears under either of the first two, the last reclaims a spot instance. */
export const watchedCalls = ["CreateFleet", "RunInstances", "TerminateInstances", "BidEvictedEvent"] as const;
const instanceId = /^i-[0-9a-f]{8,32}$/;

/*
{ "eventID": "…", "eventTime": "2026-01-31T09:30:00Z", "eventName": "CreateFleet",
  "userIdentity": { "type": "AssumedRole", "arn": "…", "sessionContext": { "sessionIssuer": { "arn": "arn:aws:iam::…:role/Karpenter" } } },
  "requestParameters": { "CreateFleetRequest": { "Type": "instant", "TagSpecification": [
    { "ResourceType": "instance", "tag": 1, "Tag": [{ "Value": "owned", "tag": 1, "Key": "kubernetes.io/cluster/prod" }, …] }, …] } },
  "responseElements": { "CreateFleetResponse": { "fleetInstanceSet": {
    "item": { "lifecycle": "spot", "instanceIds": { "item": "i-…" }, "instanceType": "m5.large" } }, "errorSet": "" } } }
*/
/** Reads the launches and terminations of this cluster's Karpenter nodes from one CloudTrail record. */
export function instanceEventsIn(record: unknown, cluster: string): readonly InstanceEvent[] {
  const { eventID, eventTime, eventName, userIdentity, requestParameters, responseElements, errorCode } =
    json(record);
  const at = new Date(textOf(eventTime));
  if (errorCode || Number.isNaN(at.getTime())) return [];
  const by = callerOf(userIdentity);
  const common = { id: textOf(eventID), at, by };
  if (eventName === "BidEvictedEvent") {
    const taken = instancesIn(json(record).serviceEventDetails);
    return taken.map(({ instance }) => ({ kind: "terminated", ...common, instance }));
  }
  const instances = instancesIn(responseElements);
  if (eventName === "TerminateInstances") {
    return instances.map(({ instance }) => ({ kind: "terminated", ...common, instance }));
  }
  if (eventName !== "CreateFleet" && eventName !== "RunInstances") return [];
  const nodePool = nodePoolIn(new Map(tagsIn([requestParameters, responseElements])), cluster);
  if (nodePool === undefined) return [];
  return instances.map(({ instance, instanceType }) => ({
    kind: "launched",
    ...common,
    instance,
    nodePool,
    ...(instanceType && { instanceType }),
  }));
}

/** Account and region that a record is of. */
export function placeOf(record: unknown): string {
  const { recipientAccountId, awsRegion } = json(record);
  return `${textOf(recipientAccountId)}/${textOf(awsRegion)}`;
}

/** Records out of whatever CloudTrail's tools export: lookup-events' answer, log files, or one record a line. */
export function recordsIn(text: string): readonly unknown[] {
  const whole = tryParse(text);
  if (whole === undefined) return text.split("\n").flatMap(recordsInLine);
  return recordsInDocument(whole);
}

function recordsInLine(line: string, n: number): readonly unknown[] {
  if (line.trim() === "") return [];
  const read = tryParse(line);
  if (read === undefined) throw new Error(`line ${n + 1} is not complete JSON`);
  return recordsInDocument(read);
}

function recordsInDocument(whole: unknown): readonly unknown[] {
  if (Array.isArray(whole)) return whole.flatMap(unwrapped);
  const { Events, Records } = json(whole);
  const list = Array.isArray(Events) ? Events : Array.isArray(Records) ? Records : [whole];
  return list.flatMap(unwrapped);
}

/** `lookup-events` returns each record as JSON text inside another record. */
function unwrapped(entry: unknown): readonly unknown[] {
  const { CloudTrailEvent } = json(entry);
  if (typeof CloudTrailEvent !== "string") return [entry];
  return [tryParse(CloudTrailEvent) ?? []].flat();
}

/** Sessions of one role are one caller. */
function callerOf(identity: unknown): string {
  const { sessionContext, arn, invokedBy } = json(identity);
  const issuer = json(json(sessionContext).sessionIssuer).arn;
  return textOf(issuer ?? arn ?? invokedBy);
}

type Found = { instance: string; instanceType?: string };

/** Instance ids wherever they stand, with the type beside or above them. */
function instancesIn(value: unknown, instanceType?: string, found = new Map<string, Found>()): Found[] {
  if (typeof value === "string") {
    if (instanceId.test(value) && !found.has(value))
      found.set(value, { instance: value, ...(instanceType && { instanceType }) });
  } else {
    const own = json(value).instanceType;
    const type = typeof own === "string" ? own : instanceType;
    for (const item of Object.values(json(value))) instancesIn(item, type, found);
  }
  return [...found.values()];
}

/** Tags wherever they stand; EC2's calls write them as key and value, with a capital or without. */
function tagsIn(value: unknown): (readonly [string, string])[] {
  if (typeof value === "string") return [];
  const { key, Key, value: small, Value } = json(value);
  const [name, content] = [key ?? Key, small ?? Value];
  if (typeof name === "string" && typeof content === "string") return [[name, content]];
  return Object.values(json(value)).flatMap(tagsIn);
}

const json = (value: unknown): Json => Object(value);

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A day of the busiest account is a fraction of this. */
const largest = 512 * 1024 * 1024 - 64;

/** Reads exported records of this cluster; in a folder, all JSON files below it, laid out like a trail's bucket. */
export function exportedEvents(paths: readonly string[], cluster: string): readonly InstanceEvent[] {
  const places = new Set<string>();
  const eventsIn = (record: unknown) => {
    const events = instanceEventsIn(record, cluster);
    if (events.some(({ kind }) => kind === "launched")) places.add(placeOf(record));
    return events;
  };
  const files = paths.flatMap((path) => reading(path, () => filesOf(path)));
  const events = files.flatMap((file) => reading(file, () => recordsIn(contentOf(file)).flatMap(eventsIn)));
  if (places.size < 2) return events;
  // An organization's trail keeps all of its accounts and regions in one bucket.
  const all = [...places].sort().join(", ");
  throw new BadInputError("These events are not of one cluster", [
    `there is a cluster ${cluster} in each of ${all}: name the folder of one`,
  ]);
}

function reading<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    // Very deep nesting overflows the stack.
    const problem = error instanceof RangeError ? "it is too large, or nested too deep" : fileProblem(error);
    throw new BadInputError("These events cannot be read", [`${path}: ${problem}`]);
  }
}

function filesOf(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  const below = readdirSync(path, { recursive: true, encoding: "utf8" });
  return below.filter((name) => /\.json(\.gz)?$/.test(name)).map((name) => join(path, name));
}

function contentOf(file: string): string {
  const bytes = readFileSync(file);
  const isZipped = bytes[0] === 0x1f;
  return fileText(isZipped ? gunzipSync(bytes, { maxOutputLength: largest }) : bytes);
}
