import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { Fields, Item, Storable } from "../record/item-table.ts";

export type AttributeMap = Record<string, AttributeValue>;

/** Fields as DynamoDB keeps them. */
export function toAttributes(fields: Fields): AttributeMap {
  const map: AttributeMap = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) map[name] = toAttribute(value);
  }
  return map;
}

function toAttribute(value: Exclude<Storable, undefined>): AttributeValue {
  if (typeof value === "string") return { S: value };
  if (typeof value === "number") return { N: String(value) };
  if (typeof value === "boolean") return { BOOL: value };
  if (value instanceof Date) return { S: value.toISOString() };
  return { M: toAttributes(value) };
}

/** The same item as JSON has it. */
export const fromAttributes = (map: AttributeMap): Item =>
  Object.fromEntries(Object.entries(map).map(([name, value]) => [name, fromAttribute(value)]));

/** Of a type that we never write, the reader refuses what it is given. */
function fromAttribute(value: AttributeValue): unknown {
  if (value.N !== undefined) return Number(value.N);
  if (value.M !== undefined) return fromAttributes(value.M);
  return value.S ?? value.BOOL ?? null;
}
