/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

export type NodeMetadata = JsonObject &
  Readonly<{ name: string; uid: string; resourceVersion: string; creationTimestamp: string }>;

/** A stored Node; never changed, only replaced. */
export type StoredObject = Readonly<{
  apiVersion: "v1";
  kind: "Node" | "Pod";
  metadata: NodeMetadata;
  spec: JsonObject;
  status: JsonObject;
}>;
export type NodeObject = StoredObject & Readonly<{ kind: "Node" }>;

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A map of texts, such as labels; empty where there is none. */
export const textsOf = (value: Json | undefined): Readonly<Record<string, string>> =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, text]) => [key, String(text)])) : {};

/** A copy without nulls and empty maps, which the real server does not store. */
export function withoutEmptyMaps(metadata: JsonObject): JsonObject {
  const isEmptyMap = (value: Json) => isObject(value) && Object.keys(value).length === 0;
  return Object.fromEntries(
    Object.entries(metadata).filter(([, value]) => value !== null && !isEmptyMap(value)),
  );
}

/** An error answer with the reason and message of the real server. */
export class Refusal extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

export const notFound = (name: string) => new Refusal(404, "NotFound", `nodes "${name}" not found`);
export const badRequest = (message: string) => new Refusal(400, "BadRequest", message);
export const invalid = (message: string) => new Refusal(422, "Invalid", message);

/** The Status object of an error answer. */
export const statusOf = (code: number, reason: string, message: string): Json => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: code < 400 ? "Success" : "Failure",
  ...(message ? { message } : {}),
  ...(reason ? { reason } : {}),
  code,
});

const nameForm = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;
const keyForm = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const valueForm = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** Refuses metadata that the real server refuses, and reports the node's name. */
export function checkMetadata(metadata: JsonObject, expected?: string): string {
  const { name, labels, annotations } = metadata;
  if (typeof name !== "string" || !nameForm.test(name))
    throw wrong(name, "metadata.name", "Invalid value", name);
  if (expected !== undefined && name !== expected)
    throw wrong(expected, "metadata.name", "field is immutable", name);
  for (const [key, value] of Object.entries(isObject(labels) ? labels : {})) {
    if (!keyForm.test(key)) throw wrong(name, "metadata.labels", "Invalid value", key);
    if (typeof value !== "string" || !valueForm.test(value))
      throw wrong(name, "metadata.labels", "Invalid value", value);
  }
  for (const [key, value] of Object.entries(isObject(annotations) ? annotations : {})) {
    if (!keyForm.test(key)) throw wrong(name, "metadata.annotations", "Invalid value", key);
    if (typeof value !== "string") throw wrong(name, "metadata.annotations", "Invalid value", value);
  }
  return name;
}

const wrong = (name: unknown, field: string, what: string, value: unknown) =>
  invalid(`Node "${name}" is invalid: ${field}: ${what}: ${JSON.stringify(value)}`);
