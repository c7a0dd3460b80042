/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

export type NodeMetadata = JsonObject &
  Readonly<{ name: string; uid: string; resourceVersion: string; creationTimestamp: string }>;

/** A stored Node; never changed, only replaced. */
export type NodeObject = Readonly<{
  apiVersion: "v1";
  kind: "Node";
  metadata: NodeMetadata;
  spec: JsonObject;
  status: JsonObject;
}>;

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A map of texts, such as labels; empty where there is none. */
export const textsOf = (value: Json | undefined): Readonly<Record<string, string>> =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, text]) => [key, String(text)])) : {};

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
