import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { BadInputError } from "../../lambda/core/errors.ts";
import { nodePoolIn } from "../../lambda/core/marks/keys.ts";
import { fileProblem } from "../../local/file-problem.ts";
import { fileText } from "../file-text.ts";
import { type InstanceEvent, isLaunch } from "./lives.ts";

/** Calls that launch and terminate instances; a fleet's launch appears under either of the first two, the last reclaims a spot instance. */
export const watchedCalls = ["CreateFleet", "RunInstances", "TerminateInstances", "BidEvictedEvent"] as const;

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
  const { eventTime, eventName, userIdentity, errorCode, ...parts } = Object(record);
  const { requestParameters, responseElements, serviceEventDetails } = parts;
  const at = new Date(textOf(eventTime));
  if (errorCode || Number.isNaN(at.getTime())) return [];
  const common = { at, by: callerOf(userIdentity) };
  const nodePool = nodePoolIn(new Map(tagsIn([requestParameters, responseElements])), cluster);
  switch (eventName) {
    case "BidEvictedEvent":
      return instancesIn(serviceEventDetails).map((instance) => ({ ...common, instance }));
    case "TerminateInstances":
      return instancesIn(responseElements).map((instance) => ({ ...common, instance }));
    case "CreateFleet":
    case "RunInstances":
      if (nodePool === undefined) return [];
      return instancesIn(responseElements).map((instance) => ({ ...common, instance, nodePool }));
    default:
      return [];
  }
}

/** Account and region that a record is of. */
function placeOf(record: unknown): string {
  const { recipientAccountId, awsRegion } = Object(record);
  return `${textOf(recipientAccountId)}/${textOf(awsRegion)}`;
}

/** The records in a log file, or in what `lookup-events` prints. */
export function recordsIn(text: string): readonly unknown[] {
  const whole: unknown = JSON.parse(text);
  const { Events, Records } = Object(whole);
  return [Events ?? Records ?? whole].flat().map(recordOf);
}

/** `lookup-events` returns each record as JSON text inside another record. */
export function recordOf(entry: unknown): unknown {
  const { CloudTrailEvent } = Object(entry);
  return typeof CloudTrailEvent === "string" ? JSON.parse(CloudTrailEvent) : entry;
}

/** Sessions of one role are one caller. */
function callerOf(identity: unknown): string {
  const { sessionContext, arn, invokedBy } = Object(identity);
  return textOf(Object(Object(sessionContext).sessionIssuer).arn ?? arn ?? invokedBy);
}

const instanceId = /^i-[0-9a-f]{8,32}$/;

/** Instance ids wherever they stand. */
function instancesIn(value: unknown): readonly string[] {
  if (typeof value === "string") return instanceId.test(value) ? [value] : [];
  return Object.values(Object(value)).flatMap(instancesIn);
}

/** Tags wherever they stand; EC2's calls write them as key and value, with a capital or without. */
function tagsIn(value: unknown): (readonly [string, string])[] {
  if (typeof value === "string") return [];
  const { key, Key, value: small, Value } = Object(value);
  const [name, content] = [key ?? Key, small ?? Value];
  if (typeof name === "string" && typeof content === "string") return [[name, content]];
  return Object.values(Object(value)).flatMap(tagsIn);
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** A day of the busiest account is a fraction of this. */
const largest = 512 * 1024 * 1024 - 64;

/** Reads exported records of this cluster; in a folder, all JSON files below it, laid out like a trail's bucket. */
export function exportedEvents(paths: readonly string[], cluster: string): readonly InstanceEvent[] {
  const places = new Set<string>();
  const eventsIn = (record: unknown) => {
    const events = instanceEventsIn(record, cluster);
    if (events.some(isLaunch)) places.add(placeOf(record));
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
