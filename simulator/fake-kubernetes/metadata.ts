import { invalid, isObject, type JsonObject } from "./objects.ts";

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
