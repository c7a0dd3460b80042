import { TryAgainError } from "../core/errors.ts";
import type { NodeMeta } from "./node-marks.ts";

type Json = Readonly<Record<string, unknown>>;

/** Reads an object out of an API answer. */
export function asRecord(value: unknown, what: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TryAgainError(`${what} must be an object, not ${JSON.stringify(value)?.slice(0, 100)}`);
  }
  return value as Json;
}

/** Reads a node's metadata, from a whole Node or from its metadata alone. */
export function parseNode(value: unknown): NodeMeta {
  const metadata = asRecord(asRecord(value, "a node").metadata, "a node's metadata");
  const { name, creationTimestamp, labels, annotations } = metadata;
  if (typeof name !== "string") throw new TryAgainError("a node's metadata.name must be text");
  return {
    name,
    createdAt: new Date(typeof creationTimestamp === "string" ? creationTimestamp : 0),
    ...(labels ? { labels: texts(labels, `the labels of node ${name}`) } : {}),
    ...(annotations ? { annotations: texts(annotations, `the annotations of node ${name}`) } : {}),
  };
}

/** The cloud's id of a node's instance where it has one, else its provider id, else its name. */
export function instanceOf(node: unknown): string {
  const { spec, metadata } = asRecord(node, "a node");
  const providerId = asRecord(spec ?? {}, "a node's spec").providerID;
  if (typeof providerId !== "string" || providerId === "") {
    return String(asRecord(metadata, "a node's metadata").name);
  }
  return providerId.startsWith("aws://") ? (providerId.split("/").at(-1) ?? providerId) : providerId;
}

function texts(value: unknown, what: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(asRecord(value, what)).map(([key, text]) => [key, String(text)]));
}
