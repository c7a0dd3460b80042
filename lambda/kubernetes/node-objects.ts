import { TryAgainError } from "../core/errors.ts";
import type { NodeMeta } from "../core/marks/plan-marks.ts";

type Json = Readonly<Record<string, unknown>>;

/** Checks that a value of an API answer is an object. */
export function asRecord(value: unknown, what: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TryAgainError(`${what} must be an object, not ${brief(value)}`);
  }
  return value as Json;
}

const brief = (value: unknown): string => JSON.stringify(value)?.slice(0, 100) ?? "missing";

/** Valid names only, because a name becomes part of a path. */
const nodeName = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** Parses a node's metadata, from a whole Node or from its metadata alone. */
export function parseNode(value: unknown): NodeMeta {
  const metadata = asRecord(asRecord(value, "a node").metadata, "a node's metadata");
  const { name, uid, creationTimestamp, labels, annotations } = metadata;
  if (typeof name !== "string" || !nodeName.test(name))
    throw new TryAgainError(`a node's metadata.name must be a name, not ${brief(name)}`);
  if (typeof uid !== "string" || uid === "")
    throw new TryAgainError(`the uid of node ${name} must be text, not ${brief(uid)}`);
  return {
    name,
    uid,
    createdAt: momentOf(creationTimestamp, `the creationTimestamp of node ${name}`),
    ...(isThere(labels) && { labels: texts(labels, `the labels of node ${name}`) }),
    ...(isThere(annotations) && { annotations: texts(annotations, `the annotations of node ${name}`) }),
  };
}

/** The id of a node's instance; without one its provider id, or its name. */
export function instanceOf(node: unknown): string {
  const { spec, metadata } = asRecord(node, "a node");
  const providerId = asRecord(spec ?? {}, "a node's spec").providerID;
  if (typeof providerId !== "string" || providerId === "") {
    return textOr(asRecord(metadata, "a node's metadata").name, "");
  }
  return instanceIn(providerId);
}

/** The instance id in a provider id; on AWS it is the last part. */
export const instanceIn = (providerId: string): string =>
  providerId.startsWith("aws://") ? (providerId.split("/").at(-1) ?? providerId) : providerId;

function texts(value: unknown, what: string): Readonly<Record<string, string>> {
  const read: [string, string][] = Object.entries(asRecord(value, what)).map(([key, text]) => {
    if (typeof text !== "string") throw new TryAgainError(`${what} must be text, not ${brief(text)}`);
    return [key, text];
  });
  return Object.fromEntries(read);
}

const isThere = (value: unknown): boolean => value !== undefined && value !== null;

/** A text of an answer, or the fallback when it is not text. */
export const textOr = (value: unknown, fallback: string): string =>
  typeof value === "string" ? value : fallback;

/** A missing time counts as 1970. */
function momentOf(value: unknown, what: string): Date {
  const moment = new Date(typeof value === "string" ? value : isThere(value) ? Number.NaN : 0);
  if (Number.isNaN(moment.getTime())) throw new TryAgainError(`${what} must be a time, not ${brief(value)}`);
  return moment;
}

/** A node's metadata with its deletion, its finalizers and its writers. */
export type NodeLife = NodeMeta &
  Readonly<{
    version: string;
    deletedAt?: Date;
    finalizers: readonly string[];
    writers: readonly Writer[];
  }>;

/** One manager of a node's fields: its last write, and the annotations it owns. */
export type Writer = Readonly<{ manager: string; at: Date; annotations: readonly string[] }>;

/** Parses a node's metadata with its deletion, its finalizers and its writers. */
export function parseNodeLife(value: unknown): NodeLife {
  const { resourceVersion, deletionTimestamp, finalizers, managedFields } = asRecord(
    asRecord(value, "a node").metadata,
    "a node's metadata",
  );
  return {
    ...parseNode(value),
    version: textOr(resourceVersion, ""),
    ...(isThere(deletionTimestamp) ? { deletedAt: momentOf(deletionTimestamp, "a deletionTimestamp") } : {}),
    finalizers: Array.isArray(finalizers) ? finalizers.map((one) => textOr(one, "")) : [],
    writers: Array.isArray(managedFields) ? managedFields.map(parseWriter) : [],
  };
}

function parseWriter(value: unknown): Writer {
  const { manager, time, fieldsV1 } = asRecord(value, "a manager of fields");
  const metadata = asRecord(asRecord(fieldsV1 ?? {}, "fieldsV1")["f:metadata"] ?? {}, "f:metadata");
  const annotations = asRecord(metadata["f:annotations"] ?? {}, "f:annotations");
  return {
    manager: textOr(manager, ""),
    at: momentOf(time, "a manager's time"),
    annotations: Object.keys(annotations)
      .filter((key) => key.startsWith("f:"))
      .map((key) => key.slice(2)),
  };
}
